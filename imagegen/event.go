package imagegen

import (
	"context"
	"errors"
	"time"
)

// EventKind says what happened.
type EventKind string

// Results of a generation. Each is reported after it has become durable. While a charge is in
// dispute, its refund counts as 0.
const (
	// charged, and queued or under way, or Record.Hosted and no longer queued; Credits: the charge
	EventAccepted  EventKind = "accepted"
	EventSettled   EventKind = "settled"   // succeeded: images stored, the rest refunded; Credits: the refund
	EventFailed    EventKind = "failed"    // no image, all credits refunded; Credits: the refund
	EventCancelled EventKind = "cancelled" // by its owner, before any image; all credits refunded; Credits: the refund
	EventResolved  EventKind = "resolved"  // an operator ended a dispute; Credits: the refund
	// a call got an earlier call's answer and was not charged; only User and Generation are set
	EventReplayed EventKind = "replayed"
)

// Work for a generation. A step is announced by [Observer.Begin]. Err is nil if the work succeeded.
const (
	EventWaited    EventKind = "waited"    // the generation got a slot, or Err; queued work reports its first wait only
	EventCharged   EventKind = "charged"   // a step: record and charge became durable, or Err
	EventAttempted EventKind = "attempted" // a step: an attempt ended with Count images and Err
	// a provider that has others make the images asked Member, which made Count images
	EventAsked  EventKind = "asked"
	EventStored EventKind = "stored" // a step: an image was received, checked and stored, or Err
	EventClosed EventKind = "closed" // a step: outcome and settlement became durable, or Err
	// Count images of an attempt were made, or may have been if its process was killed, and nobody gets them; Err: why
	EventLost EventKind = "lost"
)

// Events that concern no single generation.
const (
	EventCommitted EventKind = "committed" // the storage wrote Count operations in one transaction, or Err
	// an audit ended, and found Count violations; Err: it could not be carried out
	EventAudited EventKind = "audited"
)

// Event tells an [Observer] of what happened.
type Event struct {
	Kind       EventKind
	User       UserID
	Generation Generation // without its Prompt; zero if the event concerns no single generation
	Failure    *Failure   // of EventFailed and EventCancelled, for operators
	Provider   string
	Member     string        // of EventAsked
	Members    int           // of EventAttempted: how many EventAsked the attempt had
	Duration   time.Duration // how long it took; for results of a generation: the time since its creation
	Credits    Credits
	Count      int
	Cost       *AttemptCost // of EventAttempted, when it has ended
	Err        error
}

// Observer hears what an engine does, for metrics and traces. Its methods must be quick
// and safe for concurrent use, and must not call the engine. If one panics, the panic is
// logged and changes nothing else. The context carries the values of the request's
// context, if there is a request. An event may be missing after a crash, or after a write
// whose outcome was unknown for a while.
type Observer interface {
	// Begin is called when a step begins. Of e, only Kind, User, Generation and Provider are
	// set. Begin returns the context for everything that is done in the step: ctx, or one
	// derived from it. Observe gets that context when the step ends.
	Begin(ctx context.Context, e Event) context.Context

	// Observe is called after something has happened; for a step, when it has ended.
	Observe(ctx context.Context, e Event)
}

// ObserverFunc is an Observer that is called for EventAccepted, EventSettled, EventFailed and
// EventCancelled only.
type ObserverFunc func(ctx context.Context, e Event)

// Begin implements [Observer].
func (f ObserverFunc) Begin(ctx context.Context, _ Event) context.Context { return ctx }

// Observe implements [Observer].
func (f ObserverFunc) Observe(ctx context.Context, e Event) {
	switch e.Kind {
	case EventAccepted, EventSettled, EventFailed, EventCancelled:
		f(ctx, e)
	}
}

// Observers calls several observers, in their order. Each Begin gets the context that the one
// before returned.
type Observers []Observer

// Begin implements [Observer].
func (all Observers) Begin(ctx context.Context, e Event) context.Context {
	for _, o := range all {
		ctx = o.Begin(ctx, e)
	}
	return ctx
}

// Observe implements [Observer].
func (all Observers) Observe(ctx context.Context, e Event) {
	for _, o := range all {
		o.Observe(ctx, e)
	}
}

// Ending says how an attempt, one upstream's part of an attempt, or a generation ended.
type Ending string

// The endings. Those listed after EndedRefused are the fault of the upstream or of this
// service. They correspond to the classes of a [ProviderError].
const (
	EndedOK          Ending = "ok"
	EndedStopped     Ending = "stopped"   // by this service: it is stopping, or another attempt has taken over
	EndedCancelled   Ending = "cancelled" // by its owner; only of a generation, never of an attempt
	EndedInvalid     Ending = "invalid"   // the request was at fault
	EndedRefused     Ending = "refused"   // the request was at fault: moderation
	EndedRateLimited Ending = "rate_limited"
	EndedUnavailable Ending = "unavailable"
	EndedBlocked     Ending = "blocked"
	EndedStorage     Ending = "storage" // images were made, and this service could not store them
	EndedUnknown     Ending = "unknown"
)

var endings = map[Class]Ending{ClassInvalid: EndedInvalid, ClassRefused: EndedRefused,
	ClassRateLimited: EndedRateLimited, ClassUnavailable: EndedUnavailable, ClassBlocked: EndedBlocked,
	ClassCancelled: EndedCancelled, ClassStorage: EndedStorage}

// Ending returns the ending of an attempt whose error has this class.
func (c Class) Ending() Ending {
	if e, ok := endings[c]; ok {
		return e
	}
	return EndedUnknown
}

// EndingOf returns the ending of an attempt that delivered so many images and then ended with
// err; nil: without an error.
func EndingOf(images int, err error) Ending {
	p, classed := errors.AsType[*ProviderError](err)
	switch {
	case errors.Is(err, ErrStopping) || errors.Is(err, ErrStale):
		return EndedStopped
	case classed:
		return p.Class.Ending()
	case err != nil || images == 0:
		return EndedUnknown
	}
	return EndedOK
}
