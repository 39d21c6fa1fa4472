package engine

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// MaxEvents is how many events one call of Engine.Events returns at most.
const MaxEvents = 1000

// errNoFeed is the answer of a Store that is not a FeedKeeper.
var errNoFeed = &imagegen.Error{Code: imagegen.CodeNotFound, Message: "the storage of this service keeps no events"}

// Events returns up to limit events behind a place in the feed, which is the number of the last event that was read, in
// order; 0: from the oldest on. See [imagegen.FeedKeeper]. limit is 1 to MaxEvents, or ErrInvalidRequest. ErrNotFound:
// the Store is not a FeedKeeper. Unless Config.Feed is set, there are none but those of a former process.
func (e *Engine) Events(ctx context.Context, after uint64, limit int) ([]imagegen.FeedEvent, error) {
	k, ok := e.store.(imagegen.FeedKeeper)
	if !ok {
		return nil, errNoFeed
	}
	if limit < 1 || limit > MaxEvents {
		return nil, imagegen.Invalid("a limit is from 1 to %d events; got %d", MaxEvents, limit)
	}
	events, err := k.Feed(ctx, after, limit)
	return events, imagegen.ToUserError(err)
}

// SetNotifyBelow sets the balance below which an event tells of it; 0: none does. ErrNotFound: there is no such user,
// or the Store is not a FeedKeeper. ErrInvalidRequest: the amount is not valid.
func (e *Engine) SetNotifyBelow(ctx context.Context, u imagegen.UserID, below imagegen.Credits) error {
	k, ok := e.store.(imagegen.FeedKeeper)
	if !ok {
		return errNoFeed
	}
	return imagegen.ToUserError(k.SetNotifyBelow(ctx, u, below))
}

// KeepsEvents reports whether events are written: Config.Feed.
func (e *Engine) KeepsEvents() bool { return e.cfg.Feed }

// beginFeed has the Store write events from now on.
func (e *Engine) beginFeed() error {
	ctx, cancel := withoutCancel(context.Background())
	defer cancel()
	return e.store.(imagegen.FeedKeeper).KeepFeed(ctx, true)
}

// tidyFeed removes events by their age, also those of a process that kept them before.
func (e *Engine) tidyFeed(ctx context.Context) {
	k, ok := e.store.(imagegen.FeedKeeper)
	if !ok || e.cfg.Retention.Events < 0 {
		return
	}
	e.warn(ctx, k.TidyFeed(ctx, e.cfg.Retention.Events), "old events could not be removed")
}
