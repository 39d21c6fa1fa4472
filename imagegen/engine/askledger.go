package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// ledgerPause is the pause before a call of the ledger is made again; it doubles with each.
	ledgerPause = 50 * time.Millisecond
	// ledgerStopTimeout is what a call of the ledger has to come to its end when Stop waits no longer.
	ledgerStopTimeout = 3 * time.Second
)

// askLedger makes a call of the ledger, and makes it again at once while it fails in passing: until it
// succeeds, is refused for good, or was made Config.LedgerTries times. Its error is that of the last: it
// says nothing of those before.
//
// A ledger that shares the store's transactions is asked once: it fails only when the store does.
func (e *Engine) askLedger(ctx context.Context, call func(context.Context) error) error {
	if e.joint != nil {
		return call(ctx)
	}
	for n, rest := 1, ledgerPause; ; n, rest = n+1, 2*rest {
		err := e.askOnce(ctx, call)
		if err == nil || imagegen.RefusedForGood(err) || n == e.cfg.LedgerTries || ctx.Err() != nil || e.life.hard.Err() != nil {
			return err
		}
		pause(ctx, rest, e.life.hard.Done())
	}
}

// askOnce bounds a call of the ledger. That it took too long is no end of the caller's context.
func (e *Engine) askOnce(ctx context.Context, call func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, e.cfg.LedgerTimeout)
	defer cancel()
	defer context.AfterFunc(e.life.hard, func() { time.AfterFunc(ledgerStopTimeout, cancel) })()
	err := call(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil && !imagegen.Definite(err) {
		return fmt.Errorf("imagegen: the ledger did not answer in time: %v", err)
	}
	return err
}

// takeCredits takes what a generation may cost. It is seen through though the caller hang up.
func (e *Engine) takeCredits(ctx context.Context, r imagegen.Record) error {
	return e.askLedger(context.WithoutCancel(ctx), func(ctx context.Context) error { return e.ledger.Charge(ctx, r.Charge()) })
}

// settle closes the charge of a generation. It is seen through though the caller hang up.
func (e *Engine) settle(ctx context.Context, r imagegen.Record, used imagegen.Credits) error {
	return e.askLedger(context.WithoutCancel(ctx), func(ctx context.Context) error { return e.ledger.Settle(ctx, r.Charge().ID, used) })
}

func (e *Engine) balance(ctx context.Context, u imagegen.UserID) (b imagegen.Balance, err error) {
	err = e.askLedger(ctx, func(ctx context.Context) (err error) {
		b, err = e.ledger.Balance(ctx, u)
		return err
	})
	return b, err
}
