package imagegen

import "time"

// EventKind says what happened to a generation.
type EventKind string

// The kinds of events.
const (
	EventAccepted EventKind = "accepted" // charged, and queued or under way
	EventSettled  EventKind = "settled"  // succeeded: images stored, the rest refunded
	EventFailed   EventKind = "failed"   // no image; all credits refunded
)

// Event tells an observer of a generation.
type Event struct {
	Kind       EventKind
	User       UserID
	Generation Generation // Prompt is empty
	Failure    *Failure   // of EventFailed, for operators
	Provider   string
	Duration   time.Duration // since the generation was created
}
