package model_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// process is an engine between its start and its end, with all that it reaches the storage by.
type process struct {
	*engine.Engine
	began time.Time
	up    bool // it takes work
	dead  bool // it crashed
	gate  *gate

	overloads map[string]overload // by model
}

// Few of everything, so that it runs out.
const (
	concurrency    = 2
	maxQueued      = 3
	slotWait       = 30 * time.Second
	attemptTimeout = 2 * time.Minute
	lease          = 30 * time.Second
	maxAge         = 24 * time.Hour
	kept           = imagegen.IdempotencyKeyLifetime // prompts of what failed, too
)

var backoff = []time.Duration{time.Second, 5 * time.Second}

// prices are those of an image, by model.
var prices = map[string]imagegen.Credits{"plain": 1, "dear": 3}

type asking struct{} // key of the order in a context

func newProcess(t *rapid.T, db database, ledger imagegen.Ledger, shelf *shelf, d *diary) *process {
	g := &gate{database: db, shelf: shelf, diary: d}
	// a repetition is answered at once with what it repeats
	cfg := engine.Config{Store: g, Ledger: ledger, Images: g, Spool: db, Repeats: engine.Repeats{MaxWaiting: -1},
		Limits:    engine.Limits{Concurrency: concurrency, MaxQueued: maxQueued, SlotWait: slotWait},
		Attempts:  engine.Attempts{Timeout: attemptTimeout, Backoff: backoff, Lease: lease, MaxAge: maxAge},
		Retention: engine.Retention{FailedPrompts: kept}}
	for _, name := range []string{"plain", "dear"} {
		cfg.Models = append(cfg.Models, engine.Model{ID: name, Provider: upstream{d}, MaxConcurrent: concurrency,
			Credits: map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: prices[name]}})
	}
	cfg.Observer = imagegen.ObserverFunc(func(ctx context.Context, e imagegen.Event) {
		h := happening{kind: settled, id: e.Generation.ID, failed: e.Kind == imagegen.EventFailed ||
			e.Kind == imagegen.EventCancelled}
		if e.Kind == imagegen.EventAccepted {
			h.kind = accepted
			h.order, _ = ctx.Value(asking{}).(*order)
		}
		d.write(h)
	})
	e, err := engine.New(cfg)
	if err == nil {
		err = e.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &process{Engine: e, began: time.Now(), up: true, gate: g, overloads: map[string]overload{}}
}

// stop ends a process; work under way has the given time.
func (p *process) stop(t *rapid.T, patience time.Duration) {
	p.up = false
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		t.Errorf("drain: %v", err)
	}
}

// crash ends a process in the midst of it all: nothing that it does from now on has an effect.
func (p *process) crash(t *rapid.T) {
	p.dead = true
	p.gate.dead.Store(true)
	p.stop(t, 0)
}

// gate is the way from a process to the storage.
type gate struct {
	database
	shelf *shelf
	diary *diary
	full  atomic.Bool // there is no space for new work
	dead  atomic.Bool
}

var (
	_ imagegen.TxStore    = (*gate)(nil)
	_ imagegen.ImageStore = (*gate)(nil)
)

var (
	errFull = fmt.Errorf("%w: there is no space", imagegen.ErrNotApplied)
	errDead = fmt.Errorf("%w: this process is dead", imagegen.ErrNotApplied)
)

func (g *gate) shut(new bool) error {
	switch {
	case g.dead.Load():
		return errDead
	case new && g.full.Load():
		return errFull
	}
	return nil
}

func (g *gate) Create(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := g.shut(true); err != nil {
		return imagegen.Record{}, err
	}
	return g.database.Create(ctx, r, lease)
}

func (g *gate) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := g.shut(true); err != nil {
		return imagegen.Record{}, err
	}
	return g.database.CreateCharged(ctx, r, lease)
}

func (g *gate) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	if err := g.shut(false); err != nil {
		return imagegen.Record{}, err
	}
	r, err := g.database.Update(ctx, f, c)
	if _, shows := c.(imagegen.ShowChange); shows && err == nil {
		g.diary.write(happening{kind: shown, id: f.ID, images: slices.Clone(r.Images)})
	}
	return r, err
}

func (g *gate) FinishSettled(ctx context.Context, f imagegen.Fence, o imagegen.OutcomeChange) (imagegen.Record, error) {
	if err := g.shut(false); err != nil {
		return imagegen.Record{}, err
	}
	return g.database.FinishSettled(ctx, f, o)
}

func (g *gate) Claim(ctx context.Context, d imagegen.ClaimRequest) ([]imagegen.Record, time.Duration, error) {
	if err := g.shut(false); err != nil {
		return nil, 0, err
	}
	return g.database.Claim(ctx, d)
}

func (g *gate) ClaimAged(ctx context.Context, age time.Duration, n int,
	lease time.Duration) ([]imagegen.Record, error) {
	if err := g.shut(false); err != nil {
		return nil, err
	}
	return g.database.ClaimAged(ctx, age, n, lease)
}

func (g *gate) Recover(ctx context.Context, n int, lease time.Duration) ([]imagegen.Record, error) {
	if err := g.shut(false); err != nil {
		return nil, err
	}
	return g.database.Recover(ctx, n, lease)
}

func (g *gate) Extend(ctx context.Context, lease time.Duration, fences ...imagegen.Fence) ([]imagegen.Fence, error) {
	if err := g.shut(false); err != nil {
		return nil, err
	}
	return g.database.Extend(ctx, lease, fences...)
}

func (g *gate) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	if err := g.shut(false); err != nil {
		return err
	}
	g.shelf.put(k)
	return g.database.PutImage(ctx, k, r)
}

func (g *gate) RemoveImages(ctx context.Context, id imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	if err := g.shut(false); err != nil {
		return err
	}
	g.shelf.remove(id, attempt, keep)
	return g.database.RemoveImages(ctx, id, attempt, keep...)
}

// shelf knows which images are there.
type shelf struct {
	mu     sync.Mutex
	images map[imagegen.ImageKey]bool
}

func (s *shelf) put(k imagegen.ImageKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images[k] = true
}

func (s *shelf) remove(id imagegen.GenerationID, attempt int, keep []imagegen.ImageID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.images, func(k imagegen.ImageKey, _ bool) bool {
		return k.Generation == id && k.Attempt == attempt && !slices.Contains(keep, k.Image)
	})
}
