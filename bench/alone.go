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
	for range max(5, b.rounds) {
		began := time.Now()
		p, err := b.serve("")
		if err != nil {
			return measured{}, err
		}
		p.stop()
		times = append(times, float64(p.ready.Sub(began).Milliseconds()))
	}
	return measured{spread(times) + " ms", ""}, nil
}

// idle looks at the daemon when it has had nothing to do: at its memory, and at how often it wakes.
func idle(ctx context.Context, b *bench) (measured, error) {
	p, err := b.serve("")
	if err != nil {
		return measured{}, err
	}
	defer p.stop()
	if err := wait(ctx, b.during); err != nil {
		return measured{}, err
	}
	before, err := p.wakeups()
	if err != nil {
		return measured{}, err
	}
	began := time.Now()
	if err := wait(ctx, 4*b.during); err != nil {
		return measured{}, err
	}
	after, err := p.wakeups()
	if err != nil {
		return measured{}, err
	}
	n, err := p.memory("VmRSS:")
	return measured{fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)),
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

// binary is the size of the daemon as it is built, without options.
func binary(_ context.Context, b *bench) (measured, error) {
	i, err := os.Stat(filepath.Join(b.bin, "imagegend"))
	if err != nil {
		return measured{}, err
	}
	return measured{fmt.Sprintf("%.1f MB", float64(i.Size())/1e6), "go build -trimpath"}, nil
}
