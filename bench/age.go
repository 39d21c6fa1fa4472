package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/imagegend/imagegend/bench/load"
)

// aged is the row that holds the daemon on the directory of -data against itself on an empty one.
func aged(name string, start starter) row {
	young := func(b *bench) (side, error) {
		return start(&bench{rounds: b.rounds, turn: b.turn, dir: b.dir, bin: b.bin})
	}
	r := contest("age: "+name, targets{reference: atLeast(0.8)}, start, young)
	measure := r.measure
	r.measure = func(ctx context.Context, b *bench) ([]string, error) {
		if b.data == "" {
			return nil, errNeedsData
		}
		return measure(ctx, b)
	}
	return r
}

// page is how many generations the measured page has.
const page = 20

// grown is one thing that a user does who has much, next to one who has nothing.
type grown struct {
	user string // of bench/populate
	path string // "": a generation
}

func (g grown) measure(ctx context.Context, b *bench) (measured, error) {
	if b.data == "" {
		return measured{}, errNeedsData
	}
	p, err := b.service(ready.of(least))
	if err != nil {
		return measured{}, err
	}
	defer p.stop()
	for range page { // as many as a page lists
		if err := p.makeOne(least.edge); err != nil {
			return measured{}, err
		}
	}
	mine := p.key
	theirs, err := b.key(g.user)
	if err != nil {
		return measured{}, err
	}
	var v []float64
	var detail string
	for range b.rounds {
		p.key = mine
		few, err := g.load(p).Closed(ctx, b.turn)
		if err != nil {
			return measured{}, err
		}
		p.key = theirs
		much, err := g.load(p).Closed(ctx, b.turn)
		if err != nil {
			return measured{}, err
		}
		v = append(v, float64(much.Quantile(0.5))/float64(few.Quantile(0.5)))
		detail = fmt.Sprintf("median %v to %v", round(much.Quantile(0.5)), round(few.Quantile(0.5)))
	}
	return measured{spread(v), detail}, nil
}

func (g grown) load(p *process) load.Load {
	if g.path == "" {
		return p.generate(ourPost, generation{work: ready.of(least), connections: 1})
	}
	return p.get(g.path, 1)
}

// key makes a key for a user who is on record.
func (b *bench) key(user string) (string, error) {
	out, err := exec.Command(filepath.Join(b.bin, "imagegend"), "key", "create", "--user", user, "--data-dir", b.data).
		Output()
	if err != nil {
		return "", fmt.Errorf("a key for %s: %w", user, err)
	}
	return strings.TrimSpace(string(out)), nil
}
