package model_test

import (
	"context"
	"maps"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// outsideLedger is the plainest ledger that an embedder could bring: it shares no transaction with any store.
type outsideLedger struct {
	mu      sync.Mutex
	credits map[imagegen.UserID]imagegen.Credits
	slips   map[imagegen.ChargeID]slip
	closed  bool // it settles no charge that is open, for good
}

// errLedgerClosed is what an outside ledger says that is closed.
var errLedgerClosed = imagegen.ChargeRefused("the ledger is closed")

// slip is a charge; the zero Charge if it was settled before it was made.
type slip struct {
	imagegen.Charge
	closed bool
	used   imagegen.Credits
}

var _ imagegen.Ledger = (*outsideLedger)(nil)

func newOutsideLedger() *outsideLedger {
	return &outsideLedger{credits: map[imagegen.UserID]imagegen.Credits{}, slips: map[imagegen.ChargeID]slip{}}
}

func (l *outsideLedger) Charge(_ context.Context, c imagegen.Charge) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, known := l.slips[c.ID]
	switch {
	case s.closed:
		return imagegen.ErrChargeClosed
	case known && !s.Charge.Same(c):
		return imagegen.ErrChargeConflict
	case known:
		return nil
	case l.credits[c.User] < c.Credits:
		return imagegen.ErrInsufficientCredits
	}
	l.credits[c.User] -= c.Credits
	l.slips[c.ID] = slip{Charge: c}
	return nil
}

func (l *outsideLedger) Settle(_ context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, known := l.slips[id]
	switch {
	case !known && used != 0:
		return imagegen.ErrNotFound
	case known && !s.closed && l.closed:
		return errLedgerClosed
	case s.closed && s.used == used:
		return nil
	case s.closed || used < 0 || used > s.Credits:
		return imagegen.ErrChargeConflict
	}
	l.credits[s.User] += s.Credits - used
	l.slips[id] = slip{s.Charge, true, used}
	return nil
}

func (l *outsideLedger) Balance(_ context.Context, u imagegen.UserID) (imagegen.Balance, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return imagegen.Balance{Credits: l.credits[u]}, nil
}

// turn closes the ledger, or opens it again.
func (l *outsideLedger) turn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = !l.closed
}

// refuses reports whether it is closed.
func (l *outsideLedger) refuses() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

func (l *outsideLedger) deposit(u imagegen.UserID, c imagegen.Credits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.credits[u] += c
}

// read returns all charges as they stand.
func (l *outsideLedger) read() map[imagegen.ChargeID]slip {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.slips)
}
