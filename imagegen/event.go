package imagegen

import (
	"context"
	"errors"
	"time"
)

// EventKind says what happened.
type EventKind string

// What becomes of a generation. Each is reported once it is durable.
const (
	EventAccepted  EventKind = "accepted"  // charged, and queued or under way; Credits: the charge
	EventSettled   EventKind = "settled"   // succeeded: images stored, the rest refunded; Credits: the refund
	EventFailed    EventKind = "failed"    // no image; all credits refunded; Credits: the refund
	EventCancelled EventKind = "cancelled" // by its owner, before any image; all credits refunded; Credits: the refund
	EventResolved  EventKind = "resolved"  // an operator ended a dispute; Credits: the refund
	EventReplayed  EventKind = "replayed"  // a call was answered with what another one got; nothing was charged for it
)

// What is done for a generation. [Observer.Begin] is called before those marked as a step.
const (
	EventWaited    EventKind = "waited"    // for a slot, until there was one or Err; of queued work its first wait
	EventCharged   EventKind = "charged"   // a step: record and charge were made durable, or Err
	EventAttempted EventKind = "attempted" // a step: an attempt ended, with Count images; Err: with what it ended
	EventAsked     EventKind = "asked"     // a provider asked Member of those behind it, which made Count images
	EventStored    EventKind = "stored"    // a step: an image was received, checked and stored, or Err
	EventClosed    EventKind = "closed"    // a step: outcome and settlement were made durable, or Err
)

// What concerns no single generation.
const (
	EventCommitted EventKind = "committed" // the storage wrote Count operations in one transaction, or Err
	EventAudited   EventKind = "audited"   // an audit ended, and found Count violations; Err: it could not be made
)

// Event tells an [Observer] of what happened.
type Event struct {
	Kind       EventKind
	User       UserID
	Generation Generation // Prompt is empty; zero where the event is about none
	Failure    *Failure   // of EventFailed and EventCancelled, for operators
	Provider   string
	Member     string        // of EventAsked
	Members    int           // of EventAttempted: how often the provider reported a member that it asked
	Duration   time.Duration // how long it took; of what becomes of a generation, the time since it was created
	Credits    Credits
	Count      int
	Err        error
}

// Observer is told what an engine does, for metrics and traces. Its methods must be quick
// and safe for concurrent use, and must not call the engine. If one panics, the panic is
// logged and changes nothing else. The context carries the values of the request's
// context, if there is a request. An event may be missing after a crash, or after a write
// whose outcome was unknown for a while.
type Observer interface {
	// Begin is called when a step begins, with an Event of its kind that has the
	// generation and the provider. It returns the context for everything that is done in
	// the step, either ctx or one derived from it. Observe gets that context when the step
	// ends.
	Begin(ctx context.Context, e Event) context.Context

	// Observe is called after something has happened.
	Observe(ctx context.Context, e Event)
}

// ObserverFunc is an Observer of the results of generations only: EventAccepted,
// EventSettled, EventFailed and EventCancelled.
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

// Observers calls several observers, in their order.
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

// Ending says how an attempt ended, or one upstream's part of it, or a generation as a whole.
type Ending string

// The endings. Those listed after EndedRefused are the fault of the upstream or of this
// service.
const (
	EndedWell        Ending = "ok"
	EndedStopped     Ending = "stopped"   // by this service: it is stopping, or another attempt has taken over
	EndedCancelled   Ending = "cancelled" // by its owner; a generation can end so, an attempt cannot
	EndedInvalid     Ending = "invalid"   // the request was at fault
	EndedRefused     Ending = "refused"   // the request was at fault: moderation
	EndedRateLimited Ending = "rate_limited"
	EndedUnavailable Ending = "unavailable"
	EndedUnusable    Ending = "unusable"
	EndedUnknown     Ending = "unknown"
)

var endings = map[Class]Ending{ClassInvalid: EndedInvalid, ClassRefused: EndedRefused, ClassRateLimited: EndedRateLimited,
	ClassUnavailable: EndedUnavailable, ClassUnusable: EndedUnusable, ClassCancelled: EndedCancelled}

// Ending returns the ending of an attempt whose error has this class.
func (c Class) Ending() Ending {
	if e, ok := endings[c]; ok {
		return e
	}
	return EndedUnknown
}

// EndingOf returns how an attempt ended that delivered that many images and then err.
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
	return EndedWell
}
