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
	Queued  int // asynchronous generations that wait in the Store, for all engines that share it
	Running int // attempts under way
	Slots   int // how many attempts can be under way at once
	Waiting int // synchronous calls that wait for a slot
}

// ModelLoad is how busy an engine is with one model. Its fields are numbers: Running attempts
// under way, Waiting synchronous calls that wait for a slot, Bound attempts that may run at once
// now, and Most that may ever run at once. Bound is below Most while the upstream is overloaded.
type ModelLoad = schedule.Load

// Load returns how busy the engine is. It is cheap.
func (e *Engine) Load(ctx context.Context) (Load, error) {
	queued, err := e.store.Queued(ctx, "")
	if err != nil {
		return Load{}, imagegen.ToUserError(err)
	}
	free, waiting := e.slots.State()
	return Load{Queued: queued.All, Running: e.cfg.Limits.Concurrency - free, Slots: e.cfg.Limits.Concurrency,
		Waiting: waiting}, nil
}

// Unsettled lists the generations whose charge is open, of all users, oldest first: up to
// limit that are newer than after ("": from the oldest). total is how many there are in all.
// It is for operators. [errors.ErrUnsupported]: the Store is not an [imagegen.Inspector].
func (e *Engine) Unsettled(ctx context.Context, after imagegen.GenerationID,
	limit int) (records []imagegen.Record, total int, err error) {
	return e.inspect(ctx, after, limit, imagegen.Inspector.Unsettled)
}

// inspect lists generations of all users, if the Store can.
func (e *Engine) inspect(ctx context.Context, after imagegen.GenerationID, limit int,
	list func(imagegen.Inspector, context.Context, imagegen.GenerationID, int) ([]imagegen.Record, int, error)) (
	[]imagegen.Record, int, error) {
	i, ok := e.store.(imagegen.Inspector)
	if !ok {
		return nil, 0, fmt.Errorf("imagegen: the Store is not an Inspector: %w", errors.ErrUnsupported)
	}
	records, total, err := list(i, ctx, after, limit)
	return records, total, imagegen.ToUserError(err)
}
