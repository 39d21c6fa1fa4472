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
	g := generation{edge: small, connections: 256, memory: true}
	peak, err := b.under(ctx, with(b, g.ours))
	if err != nil {
		return measured{}, err
	}
	theirs, err := b.open(ctx, with(b, g.theirs), peak.Rate()/2)
	if err != nil {
		return measured{}, err
	}
	ours, err := b.open(ctx, with(b, g.ours), peak.Rate()/2)
	if err != nil {
		return measured{}, err
	}
	added := func(q float64) time.Duration { return round(ours.Quantile(q) - theirs.Quantile(q)) }
	took := func(q float64) string {
		return fmt.Sprintf("%v (%v)", round(ours.Quantile(q)), round(theirs.Quantile(q)))
	}
	return measured{
		fmt.Sprintf("%v, %v, %v", added(0.5), added(0.99), added(0.999)),
		fmt.Sprintf("p50 %s, p99 %s, p99.9 %s at %.0f/s", took(0.5), took(0.99), took(0.999), peak.Rate()/2),
	}, nil
}

// open starts a server, warms it up, and puts requests on it at a fixed rate.
func (b *bench) open(ctx context.Context, start starter, rate float64) (load.Result, error) {
	p, l, err := start()
	if err != nil {
		return load.Result{}, err
	}
	defer p.stop()
	if _, err := l.Open(ctx, rate, b.during/5); err != nil {
		return load.Result{}, err
	}
	return l.Open(ctx, rate, b.during)
}
