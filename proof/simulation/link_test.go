package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

var (
	errDied  = errors.New("simulation: the process has died")
	errEnded = errors.New("simulation: the process has ended in good order")
	errLost  = errors.New("simulation: the connection was lost")
)

// link is what one process of the service reaches its storage through. Until the world is calm,
// calls over it are delayed, refused, lost on the way there or on the way back, or arrive late. Once
// the process has died, none arrives.
type link struct {
	w    *world
	dice *dice
	cut  context.Context // ends with the process; its cause is errDied or errEnded
}

// manner is how a call may fail.
type manner int

const (
	reads     manner = iota // it fails, or not
	refusable               // it fails without effect
	losable                 // it may also have taken effect, or take effect later
)

// fate is what becomes of a call on its way.
type fate int

const (
	refused    fate = iota // it is answered, and has no effect
	lost                   // it does not arrive
	answerLost             // it arrives, and its answer does not
	delayed                // it arrives when nobody waits for its answer any more
	arrives
)

func (l *link) fate() fate {
	if l.w.calm.Load() || !l.dice.chance(l.w.faultRate()) {
		return arrives
	}
	l.w.met.Add("faults", 1)
	return fate(l.dice.weighted(4, 3, 3, 1))
}

// over makes a call over a link.
func over[T any](ctx context.Context, l *link, m manner, call func(context.Context) (T, error)) (none T, err error) {
	if err := l.travel(ctx, m); err != nil {
		return none, err
	}
	switch f := l.fate(); {
	case f == arrives:
		v, err := call(ctx)
		if l.cut.Err() != nil {
			return none, context.Cause(l.cut)
		}
		return v, err
	case m == reads:
	case f == refused || m == refusable:
		return none, fmt.Errorf("%w: the simulation refuses", imagegen.ErrNotApplied)
	case f == answerLost:
		call(ctx)
	case f == delayed:
		l.w.late.Go(func() {
			time.Sleep(l.dice.between(time.Second, 2*time.Minute))
			call(context.WithoutCancel(ctx))
		})
	}
	return none, errLost
}

// travel is the way there. It always takes a moment, so that calls that set out together arrive in
// an order that the seed decides.
func (l *link) travel(ctx context.Context, m manner) error {
	longest := time.Millisecond
	if !l.w.calm.Load() {
		longest = []time.Duration{longest, 50 * time.Millisecond, 20 * time.Second}[l.dice.weighted(70, 28, 2)]
	}
	t := time.NewTimer(l.dice.between(0, longest))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-l.cut.Done():
	}
	switch {
	case l.cut.Err() != nil:
		return context.Cause(l.cut)
	case ctx.Err() != nil && m == reads:
		return ctx.Err()
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", imagegen.ErrNotApplied, ctx.Err())
	}
	return nil
}

// nothing makes a call fit that returns no value.
func nothing(call func(context.Context) error) func(context.Context) (struct{}, error) {
	return func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) }
}
