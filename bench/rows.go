package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/imagegend/imagegend/bench/load"
)

// row is one line of the table.
type row struct {
	name    string
	target  string
	measure func(ctx context.Context, b *bench) (measured, error)
}

// measured is what goes into the table.
type measured struct{ figure, detail string }

// The edges of the pictures that the provider has ready.
const (
	small = 17  // 1 KB
	large = 590 // 1 MB
	movie = 835 // 2 MB
)

var rows = []row{
	{"generation, 1 KB in memory, 256 connections", "≥ 0.8", versus(generation{edge: small, connections: 256, memory: true}, rate)},
	{"generation, 1 KB on disk, 256 connections", "≥ 0.8", versus(generation{edge: small, connections: 256}, rate)},
	{"generation, 1 MB on disk, 256 connections", "≥ 0.8", versus(generation{edge: large, connections: 256}, rate)},
	{"generation, 1 KB in memory, 1 connection", "≤ 1.6", versus(generation{edge: small, connections: 1, memory: true}, median)},
	{"generation, 1 KB on disk, 1 connection", "≤ 1.6", versus(generation{edge: small, connections: 1}, median)},
	{"generation, 1 MB on disk, 1 connection", "≤ 1.6", versus(generation{edge: large, connections: 1}, median)},
	{"asynchronous intake, provider takes hours", "≥ 0.8", versus(generation{edge: small, connections: 256, async: true, slow: true}, rate)},
	{"asynchronous intake, provider takes no time", "≥ 0.8", versus(generation{edge: small, connections: 256, async: true}, rate)},
	{"open loop at half of the peak, 1 KB in memory", "1, 5, 20 ms", half},
	{"GET generation, 64 connections", "≥ 0.8", versus(reading{edge: small, what: known}, rate)},
	{"GET models, 64 connections", "≥ 0.9", versus(reading{edge: small, what: models}, rate)},
	{"GET image of 2 MB, 64 connections", "≥ 0.9", versus(reading{edge: movie, what: download}, rate)},
	{"upload of 800 MiB", "≥ 0.7", upload},
	{"age: generation, 1 KB on disk, 256 connections", "≥ 0.8", aged(generation{edge: small, connections: 256}, rate)},
	{"age: generation, 1 KB on disk, 1 connection", "≤ 1.25", aged(generation{edge: small, connections: 1}, median)},
	{"age: GET generation, 64 connections", "≥ 0.8", aged(reading{edge: small, what: known}, rate)},
	{"age: GET image of 2 MB, 64 connections", "≥ 0.8", aged(reading{edge: movie, what: download}, rate)},
	{"growth: charge, 1 million generations", "≤ 2", grown{user: "rich"}.measure},
	{"growth: page, 1 million generations", "≤ 2", grown{user: "rich", path: "/api/v1/generations?limit=20"}.measure},
	{"growth: charge, 100,000 lots", "≤ 2", grown{user: "lots"}.measure},
	{"growth: balance, 100,000 lots", "≤ 2", grown{user: "lots", path: "/api/v1/credits"}.measure},
	// behind the rest that needs the directory: it leaves a queue there
	{"age: asynchronous intake, 256 connections", "≥ 0.8", aged(generation{edge: small, connections: 256, async: true, slow: true}, rate)},
	{"start to first answer", "< 100 ms, 2 s", startup},
	{"idle: resident", "< 30 MiB", idle},
	{"binary", "< 30 MB", binary},
}

// contest is a load that ours and theirs are put under.
type contest interface {
	theirs(b *bench) (*process, load.Load, error)
	ours(b *bench) (*process, load.Load, error)
	goesOn() bool // when its load has ended, the server works on
}

// figure makes one number of a result; rate is higher when better, median is lower.
type figure func(load.Result) float64

func rate(r load.Result) float64   { return r.Rate() }
func median(r load.Result) float64 { return r.Quantile(0.5).Seconds() }

// versus holds ours against theirs, and takes the ratio of each round.
func versus(c contest, f figure) func(context.Context, *bench) (measured, error) {
	return func(ctx context.Context, b *bench) (measured, error) {
		return b.compare(ctx, f, c.goesOn(), with(b, c.theirs), with(b, c.ours))
	}
}

// generation makes images.
type generation struct {
	edge, connections int
	memory, async     bool
	slow              bool // the provider is: what is taken in waits
}

// goesOn is true of images on disk because of their thumbnails.
func (g generation) goesOn() bool { return g.async || !g.memory }

func (g generation) theirs(b *bench) (*process, load.Load, error) {
	image, err := b.picture(g.edge)
	if err != nil {
		return nil, load.Load{}, err
	}
	if g.memory || g.async {
		image = ""
	}
	p, err := b.reference(image)
	if err != nil {
		return nil, load.Load{}, err
	}
	return p, p.generate(theirPost, g), nil
}

func (g generation) ours(b *bench) (*process, load.Load, error) {
	image, err := b.picture(g.edge)
	if err != nil {
		return nil, load.Load{}, err
	}
	begin := b.serve
	if g.memory {
		begin = b.embedded
	}
	p, err := begin(image)
	if err != nil {
		return nil, load.Load{}, err
	}
	return p, p.generate(ourPost, g), nil
}

// reading reads what is there.
type reading struct {
	edge int
	what func(*process) (theirs, ours string)
}

func (reading) goesOn() bool { return false }

func known(p *process) (string, string)    { return p.known, p.known }
func download(p *process) (string, string) { return p.image, p.image }
func models(*process) (string, string)     { return "/empty", "/api/v1/models" }

const readers = 64

func (r reading) theirs(b *bench) (*process, load.Load, error) {
	picture, err := b.picture(r.edge)
	if err != nil {
		return nil, load.Load{}, err
	}
	p, err := b.reference("")
	if err != nil {
		return nil, load.Load{}, err
	}
	if err := os.Link(picture, filepath.Join(p.dir, "download")); err != nil {
		p.stop()
		return nil, load.Load{}, err
	}
	path, _ := r.what(p)
	return p, p.get(path, readers), nil
}

func (r reading) ours(b *bench) (*process, load.Load, error) {
	picture, err := b.picture(r.edge)
	if err != nil {
		return nil, load.Load{}, err
	}
	p, err := b.serve(picture)
	if err != nil {
		return nil, load.Load{}, err
	}
	if err := p.makeOne(r.edge); err != nil {
		p.stop()
		return nil, load.Load{}, err
	}
	_, path := r.what(p)
	return p, p.get(path, readers), nil
}
