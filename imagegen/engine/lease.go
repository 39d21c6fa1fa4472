package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// leases are those of the attempts that run in this process, and of calls that are being
// accepted. All of them are prolonged in one write, each time that a third of Config.Attempts.Lease
// has passed, so one such write may fail without consequence.
type leases struct {
	mu   sync.Mutex // guards held; cancel is called with it held
	held map[imagegen.Fence]*lease
}

// lease is known by its address: the same fence can be dropped and held anew.
type lease struct{ cancel context.CancelCauseFunc }

// hold adds an attempt until drop; cancel is called with ErrStale if its lease is lost.
func (l *leases) hold(f imagegen.Fence, cancel context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[f] = &lease{cancel}
}

func (l *leases) drop(f imagegen.Fence) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, f)
}

// all returns a copy, which stays as it is while the store is asked about it.
func (l *leases) all() map[imagegen.Fence]*lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.held)
}

// lose cancels attempts that another engine has taken over. An attempt counts only if it
// is the same one that the store was asked about: its fence may have begun anew since.
func (l *leases) lose(lost []imagegen.Fence, asked map[imagegen.Fence]*lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range lost {
		if held := l.held[f]; held != nil && held == asked[f] {
			held.cancel(imagegen.ErrStale)
		}
	}
}

// prolongLeases runs until Stop has finished, since work that drains needs its leases
// too.
func (e *Engine) prolongLeases(ended <-chan struct{}) {
	t := time.NewTicker(e.cfg.Attempts.Lease / 3)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			_ = e.prolong() // the next tick tries again
		case <-ended:
			return
		}
	}
}

// prolong prolongs the leases of this process, and cancels the attempts that have lost
// theirs.
func (e *Engine) prolong() error {
	held := e.leases.all()
	if len(held) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), e.cfg.Attempts.Lease/3)
	defer cancel()
	lost, err := e.store.Extend(ctx, e.cfg.Attempts.Lease, slices.Collect(maps.Keys(held))...)
	if err != nil {
		e.cfg.Log.Warn("leases could not be prolonged", "error", err)
	}
	e.leases.lose(lost, held)
	return err
}
