package imagegen

import (
	"context"
	"errors"
	"time"
)

// EventKind says what happened.
type EventKind string

// What becomes of a generation. Each is told once it is durable.
const (
	EventAccepted  EventKind = "accepted"  // charged, and queued or under way; Credits: the charge
	EventSettled   EventKind = "settled"   // succeeded: images stored, the rest refunded; Credits: the refund
	EventFailed    EventKind = "failed"    // no image; all credits refunded; Credits: the refund
	EventCancelled EventKind = "cancelled" // by its owner, before any image; all credits refunded; Credits: the refund
	EventResolved  EventKind = "resolved"  // an operator ended a dispute; Credits: the refund
	EventReplayed  EventKind = "replayed"  // a call was answered with what another one got; nothing was charged for it
)

// What is done for a generation. Of those that are steps, [Observer.Begin] is told beforehand.
const (
	EventWaited    EventKind = "waited"    // for a slot, until there was one or Err; of queued work its first wait
	EventCharged   EventKind = "charged"   // a step: record and charge were made durable, or Err
	EventAttempted EventKind = "attempted" // a step: an attempt ended, with Count images; Err: with what it ended
	EventAsked     EventKind = "asked"     // a provider asked Member of those behind it, which made Count images
	EventStored    EventKind = "stored"    // a step: an image was received, checked and stored, or Err
	EventClosed    EventKind = "closed"    // a step: outcome and settlement were made durable, or Err
)

// What is about no generation.
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
	Members    int           // of EventAttempted: how often the provider told of a member that it asked
	Duration   time.Duration // of what happened; of what becomes of a generation, since it was created
	Credits    Credits
	Count      int
	Err        error
}

// Observer is told of what an engine does: for metrics and traces. Its methods must be quick, safe for
// concurrent use, and must not call the engine. A panic of theirs is logged, and changes nothing. What is told
// carries the values of the context of the request that it is about, as far as there is one. After a crash, or
// a write whose outcome was unknown for a while, an event may be missing.
type Observer interface {
	// Begin is told of a step that begins: an Event of its kind with the generation and the provider. It
	// returns the context of all that is done in this step, which Observe is given at its end: that of ctx, or
	// one derived from it.
	Begin(ctx context.Context, e Event) context.Context

	// Observe is told of what happened.
	Observe(ctx context.Context, e Event)
}

// ObserverFunc is an Observer of what becomes of generations alone: of EventAccepted, EventSettled,
// EventFailed and EventCancelled.
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

// Observers has several observers told, in their order.
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

// Ending says how an attempt ended, or the part of it that one of several upstreams had, or a generation.
type Ending string

// The endings. All behind EndedRefused are the upstream's fault, or this service's.
const (
	EndedWell        Ending = "ok"
	EndedStopped     Ending = "stopped"   // by this service: it is stopping, or another attempt has taken over
	EndedCancelled   Ending = "cancelled" // by its owner: of a generation, and of no attempt
	EndedInvalid     Ending = "invalid"   // through what was asked for
	EndedRefused     Ending = "refused"   // through what was asked for
	EndedRateLimited Ending = "rate_limited"
	EndedUnavailable Ending = "unavailable"
	EndedUnusable    Ending = "unusable"
	EndedUnknown     Ending = "unknown"
)

var endings = map[Class]Ending{ClassInvalid: EndedInvalid, ClassRefused: EndedRefused, ClassRateLimited: EndedRateLimited,
	ClassUnavailable: EndedUnavailable, ClassUnusable: EndedUnusable, ClassCancelled: EndedCancelled}

// Ending is the ending of an attempt that ends with an error of this class.
func (c Class) Ending() Ending {
	if e, ok := endings[c]; ok {
		return e
	}
	return EndedUnknown
}

// EndingOf says how an attempt ended that brought so many images and this error.
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
