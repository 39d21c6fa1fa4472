package imagegen

import (
	"context"
	"time"
)

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

func (e *Engine) observe(ctx context.Context, kind EventKind, r Record) {
	defer func() {
		if p := recover(); p != nil { // what it watches has happened all the same
			e.cfg.Log.ErrorContext(ctx, "Config.Observe panicked", "generation", r.ID, "event", kind, "panic", p)
		}
	}()
	g := r.Generation()
	g.Prompt = ""
	e.cfg.Observe(ctx, Event{Kind: kind, User: r.User, Generation: g, Failure: r.Failure,
		Provider: e.offers.now.Load().makers[r.Model], Duration: e.cfg.Now().Sub(r.CreatedAt)})
}
