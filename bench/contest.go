package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/bench/load"
)

// side is a server and the load that it is put under.
type side struct {
	*process
	load load.Load
}

// starter starts a server.
type starter func(*bench) (side, error)

// turn is the result of one turn of a side.
type turn struct {
	rate      float64 // answers a second
	processor float64 // seconds of it for an answer
	opened    int     // connections to the upstream so far
	flushes   float64 // of the disk for an answer, those for other programs included
}

// hold puts servers under load by turns, so that whatever else the machine does meets all of them. In each round
// another one begins, and while it is one's turn the others stand still. It returns the turns of each.
func (b *bench) hold(ctx context.Context, starters ...starter) ([][]turn, error) {
	sides := make([]side, len(starters))
	for i, start := range starters {
		s, err := b.warm(ctx, start)
		if err != nil {
			return nil, fmt.Errorf("server %d: %w", i+1, err)
		}
		defer s.stop()
		sides[i] = s
	}
	turns := make([][]turn, len(sides))
	for round := range b.rounds {
		for k := range sides {
			i := (round + k) % len(sides)
			t, err := sides[i].turn(ctx, b)
			if err != nil {
				return nil, fmt.Errorf("server %d: %w", i+1, err)
			}
			turns[i] = append(turns[i], t)
		}
	}
	return turns, nil
}

// warm starts a server, warms it up, and has it stand still.
func (b *bench) warm(ctx context.Context, start starter) (side, error) {
	s, err := start(b)
	if err != nil {
		return side{}, err
	}
	if _, err := s.load.Closed(ctx, b.turn/2); err != nil {
		s.stop()
		return side{}, err
	}
	return s, s.pause()
}

func (s side) turn(ctx context.Context, b *bench) (turn, error) {
	if err := s.goOn(); err != nil {
		return turn{}, err
	}
	before, err := s.processorTime()
	if err != nil {
		return turn{}, err
	}
	flushed := flushes(b.dir)
	r, err := s.load.Closed(ctx, b.turn)
	if err != nil {
		return turn{}, err
	}
	after, err := s.processorTime()
	if err != nil {
		return turn{}, err
	}
	opened, err := s.connections()
	each := float64(r.Requests())
	return turn{r.Rate(), (after - before).Seconds() / each, opened, (flushes(b.dir) - flushed) / each},
		cmp.Or(err, s.pause(), ctx.Err())
}

// figure is a number of each turn.
type figure func(turn) float64

func rate(t turn) float64      { return t.rate }
func processor(t turn) float64 { return t.processor }
func flushed(t turn) float64   { return t.flushes }

func each(turns []turn, f figure) (v []float64) {
	for _, t := range turns {
		v = append(v, f(t))
	}
	return v
}

// ratios are those of a figure in each round.
func ratios(ours, theirs []turn, f figure) (v []float64) {
	for i := range ours {
		v = append(v, f(ours[i])/f(theirs[i]))
	}
	return v
}

func median(v []float64) float64 { return slices.Sorted(slices.Values(v))[len(v)/2] }

// spread is the median with the lowest and the highest.
func spread(v []float64) string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", median(v), slices.Min(v), slices.Max(v))
}

// target is what a ratio is to reach; the zero value is none.
type target struct {
	bound float64
	most  bool // it is to stay below
}

func atLeast(v float64) target { return target{bound: v} }
func atMost(v float64) target  { return target{v, true} }

// cell is what the table shows: what is missed in bold.
func (t target) cell(v []float64) string {
	sign := "≥"
	if t.most {
		sign = "≤"
	}
	switch m := median(v); {
	case t.bound == 0:
		return spread(v)
	case t.most && m > t.bound, !t.most && m < t.bound:
		return fmt.Sprintf("**%s**, %s %g", spread(v), sign, t.bound)
	}
	return fmt.Sprintf("%s, %s %g", spread(v), sign, t.bound)
}
