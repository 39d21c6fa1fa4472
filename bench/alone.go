package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// startup times the daemon from its start until it answers.
func startup(_ context.Context, b *bench) (measured, error) {
	var times []float64
	for range b.rounds {
		began := time.Now()
		p, err := b.service(ready.of(least))
		if err != nil {
			return measured{}, err
		}
		p.stop()
		times = append(times, float64(p.ready.Sub(began).Milliseconds()))
	}
	return measured{spread(times) + " ms", ""}, nil
}

// peak is the most memory that the daemon holds under a load.
func peak(start starter) func(context.Context, *bench) (measured, error) {
	return func(ctx context.Context, b *bench) (measured, error) {
		s, err := start(b)
		if err != nil {
			return measured{}, err
		}
		defer s.stop()
		r, err := s.load.Closed(ctx, 5*b.turn)
		if err != nil {
			return measured{}, err
		}
		n, err := s.memory("VmHWM:")
		return measured{fmt.Sprintf("%d MiB", n>>20), fmt.Sprintf("%.0f a second", r.Rate())}, err
	}
}

// idle looks at the daemon when it has had nothing to do: at its memory, and at how often it wakes.
func idle(ctx context.Context, b *bench) (measured, error) {
	p, err := b.service(ready.of(least))
	if err != nil {
		return measured{}, err
	}
	defer p.stop()
	if err := wait(ctx, b.turn); err != nil {
		return measured{}, err
	}
	before, err := p.wakeups()
	if err != nil {
		return measured{}, err
	}
	began := time.Now()
	if err := wait(ctx, 10*b.turn); err != nil {
		return measured{}, err
	}
	after, err := p.wakeups()
	if err != nil {
		return measured{}, err
	}
	all, err := p.memory("VmRSS:")
	if err != nil {
		return measured{}, err
	}
	own, err := p.memory("RssAnon:") // the rest is pages of the program's file, which the system may drop
	return measured{fmt.Sprintf("%.1f MiB, %.1f of them not the program's file", float64(all)/(1<<20),
		float64(own)/(1<<20)),
		fmt.Sprintf("%.1f threads woken a second", float64(after-before)/time.Since(began).Seconds())}, err
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// size is that of the daemon as it is built, without options.
func size(_ context.Context, b *bench) (measured, error) {
	i, err := os.Stat(filepath.Join(b.bin, "imagegend"))
	if err != nil {
		return measured{}, err
	}
	return measured{fmt.Sprintf("%.1f MB", float64(i.Size())/1e6), "go build -trimpath"}, nil
}
