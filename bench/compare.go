package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/imagegend/imagegend/bench/load"
)

// starter starts a server and tells what load to put on it.
type starter func() (*process, load.Load, error)

// with binds what starts a server to a bench.
func with(b *bench, start func(*bench) (*process, load.Load, error)) starter {
	return func() (*process, load.Load, error) { return start(b) }
}

// slice is how long two servers are under load by turns: whatever else the machine does then meets both.
const slice = time.Second

// compare takes the ratio of a figure, that of the second server to that of the first, in each round.
// apart has each round start the second when the first has ended: what goes on behind the answers of
// one would be work for the machine while it is the other's turn.
func (b *bench) compare(ctx context.Context, f figure, apart bool, first, second starter) (measured, error) {
	run := b.byTurns
	if apart {
		run = b.apart
	}
	var ratios []float64
	var detail string
	for range b.rounds {
		r, err := run(ctx, first, second)
		if err != nil {
			return measured{}, err
		}
		ratios = append(ratios, f(r[1])/f(r[0]))
		detail = fmt.Sprintf("%.0f/s to %.0f/s, median %v to %v", r[1].Rate(), r[0].Rate(), round(r[1].Quantile(0.5)), round(r[0].Quantile(0.5)))
	}
	return measured{spread(ratios), detail}, nil
}

func (b *bench) byTurns(ctx context.Context, starters ...starter) ([]load.Result, error) {
	loads, results := make([]load.Load, len(starters)), make([]load.Result, len(starters))
	for i, start := range starters {
		p, l, err := b.warm(ctx, start)
		if err != nil {
			return nil, fmt.Errorf("server %d: %w", i+1, err)
		}
		defer p.stop()
		loads[i] = l
	}
	for turn, left := 0, b.during; left > 0; turn, left = turn+1, left-slice {
		for k := range loads {
			i := (turn + k) % len(loads) // none is always the one that comes after the other
			r, err := loads[i].Closed(ctx, min(slice, left))
			if err != nil {
				return nil, fmt.Errorf("server %d: %w", i+1, err)
			}
			results[i] = results[i].And(r)
		}
	}
	return results, nil
}

func (b *bench) apart(ctx context.Context, starters ...starter) (results []load.Result, err error) {
	for i, start := range starters {
		r, err := b.under(ctx, start)
		if err != nil {
			return nil, fmt.Errorf("server %d: %w", i+1, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// under puts a server under load.
func (b *bench) under(ctx context.Context, start starter) (load.Result, error) {
	p, l, err := b.warm(ctx, start)
	if err != nil {
		return load.Result{}, err
	}
	defer p.stop()
	return l.Closed(ctx, b.during)
}

// warm starts a server and warms it up.
func (b *bench) warm(ctx context.Context, start starter) (*process, load.Load, error) {
	p, l, err := start()
	if err != nil {
		return nil, load.Load{}, err
	}
	if _, err := l.Closed(ctx, b.during/5); err != nil {
		p.stop()
		return nil, load.Load{}, err
	}
	return p, l, nil
}

func spread(v []float64) string {
	slices.Sort(v)
	return fmt.Sprintf("%.2f (%.2f-%.2f)", v[len(v)/2], v[0], v[len(v)-1])
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
