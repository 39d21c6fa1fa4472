package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/imagegend/imagegend/bench/load"
)

// aged holds the daemon on the directory of -data against itself on an empty one.
func aged(c contest, f figure) func(context.Context, *bench) (measured, error) {
	return func(ctx context.Context, b *bench) (measured, error) {
		if b.data == "" {
			return needsData, nil
		}
		young := *b
		young.data = ""
		return b.compare(ctx, f, c.goesOn(), with(&young, c.ours), with(b, c.ours))
	}
}

var needsData = measured{"-", "needs -data, a directory of bench/populate"}

// page is how many generations the measured page has.
const page = 20

// grown is one thing that a user does who has much, next to one who has nothing.
type grown struct {
	user string // of bench/populate
	path string // "": a generation
}

func (g grown) measure(ctx context.Context, b *bench) (measured, error) {
	if b.data == "" {
		return needsData, nil
	}
	image, err := b.picture(small)
	if err != nil {
		return measured{}, err
	}
	p, err := b.serve(image)
	if err != nil {
		return measured{}, err
	}
	defer p.stop()
	for range page { // as many as a page lists
		if err := p.makeOne(small); err != nil {
			return measured{}, err
		}
	}
	mine := p.key
	theirs, err := b.key(g.user)
	if err != nil {
		return measured{}, err
	}
	var ratios []float64
	var detail string
	for range b.rounds {
		p.key = mine
		few, err := g.load(p).Closed(ctx, b.during)
		if err != nil {
			return measured{}, err
		}
		p.key = theirs
		much, err := g.load(p).Closed(ctx, b.during)
		if err != nil {
			return measured{}, err
		}
		ratios = append(ratios, median(much)/median(few))
		detail = fmt.Sprintf("median %v to %v", round(much.Quantile(0.5)), round(few.Quantile(0.5)))
	}
	return measured{spread(ratios), detail}, nil
}

func (g grown) load(p *process) load.Load {
	if g.path == "" {
		return p.generate(ourPost, generation{edge: small, connections: 1})
	}
	return p.get(g.path, 1)
}

// key makes a key for a user who is on record.
func (b *bench) key(user string) (string, error) {
	out, err := exec.Command(filepath.Join(b.bin, "imagegend"), "key", "create", "--user", user, "--data-dir", b.data).Output()
	if err != nil {
		return "", fmt.Errorf("a key for %s: %w", user, err)
	}
	return strings.TrimSpace(string(out)), nil
}
