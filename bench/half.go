package main

import (
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/bench/load"
)

// half finds the peak of the service in a closed loop, puts half of it on both in an open one, and
// tells by how much the service takes longer.
func half(ctx context.Context, b *bench) (measured, error) {
	g := generation{work: openAI.of(least), connections: 64}
	turns, err := b.hold(ctx, g.ours)
	if err != nil {
		return measured{}, err
	}
	peak := median(each(turns[0], rate))
	theirs, err := b.open(ctx, g.theirs, peak/2)
	if err != nil {
		return measured{}, err
	}
	ours, err := b.open(ctx, g.ours, peak/2)
	if err != nil {
		return measured{}, err
	}
	added := func(q float64) time.Duration { return round(ours.Quantile(q) - theirs.Quantile(q)) }
	took := func(q float64) string {
		return fmt.Sprintf("%v (%v)", round(ours.Quantile(q)), round(theirs.Quantile(q)))
	}
	return measured{
		fmt.Sprintf("%v, %v, %v", added(0.5), added(0.99), added(0.999)),
		fmt.Sprintf("p50 %s, p99 %s, p99.9 %s at %.0f/s", took(0.5), took(0.99), took(0.999), peak/2),
	}, nil
}

// openTurns is how many turns the open loop lasts, so that a thousandth of its requests are a few.
const openTurns = 5

// open starts a server, warms it up, and puts requests on it at a fixed rate.
func (b *bench) open(ctx context.Context, start starter, rate float64) (load.Result, error) {
	s, err := start(b)
	if err != nil {
		return load.Result{}, err
	}
	defer s.stop()
	if _, err := s.load.Open(ctx, rate, b.turn); err != nil {
		return load.Result{}, err
	}
	return s.load.Open(ctx, rate, openTurns*b.turn)
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
