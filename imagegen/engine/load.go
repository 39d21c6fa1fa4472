package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/schedule"
)

// Load is how busy an engine is at one moment.
type Load struct {
	Queued  int // asynchronous generations that wait, of all engines that share the Store
	Running int // attempts under way
	Slots   int // how many can be under way at once
	Waiting int // synchronous callers who wait for a slot
}

// ModelLoad is how busy an engine is with one model.
type ModelLoad = schedule.Load

// Load reports how busy the engine is. It is cheap.
func (e *Engine) Load(ctx context.Context) (Load, error) {
	queued, err := e.store.Queued(ctx, "")
	if err != nil {
		return Load{}, imagegen.ToUserError(err)
	}
	free, waiting := e.slots.State()
	return Load{Queued: queued.All, Running: e.cfg.Concurrency - free, Slots: e.cfg.Concurrency, Waiting: waiting}, nil
}

// Unsettled lists the generations whose charge is open, of all users, oldest first: up to
// limit of those behind after ("": from the oldest). total is how many there are in all.
// For operators. [errors.ErrUnsupported] if the Store is not an [imagegen.Inspector].
func (e *Engine) Unsettled(ctx context.Context, after imagegen.GenerationID, limit int) (records []imagegen.Record, total int, err error) {
	i, ok := e.store.(imagegen.Inspector)
	if !ok {
		return nil, 0, fmt.Errorf("imagegen: the Store is not an Inspector: %w", errors.ErrUnsupported)
	}
	records, total, err = i.Unsettled(ctx, after, limit)
	return records, total, imagegen.ToUserError(err)
}
