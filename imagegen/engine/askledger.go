package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/waiting"
)

const (
	// ledgerPause is the pause before a call of the ledger is made again; it doubles with each.
	ledgerPause = 50 * time.Millisecond
	// ledgerStopTimeout is how long a call of the ledger may still take when Stop no longer waits.
	ledgerStopTimeout = 3 * time.Second
)

// askLedger calls the ledger, and repeats the call while it fails temporarily: until it
// succeeds, is refused for good, or has been made Config.LedgerCalls.Tries times. It returns
// the error of the last try, which says nothing about the earlier ones.
//
// A ledger that shares the store's transactions is called once: it fails only when the
// store does. Once Stop no longer waits, no call is repeated, and one under way is cut off
// after ledgerStopTimeout.
func (e *Engine) askLedger(ctx context.Context, call func(context.Context) error) error {
	if e.joint != nil {
		return call(ctx)
	}
	for n, rest := 1, ledgerPause; ; n, rest = n+1, 2*rest {
		err := e.askOnce(ctx, call)
		if err == nil || imagegen.Permanent(err) || n == e.cfg.LedgerCalls.Tries || ctx.Err() != nil ||
			e.life.hard.Err() != nil {
			return err
		}
		waiting.Pause(ctx, rest, e.life.hard.Done())
	}
}

// askOnce limits one call of the ledger to Config.LedgerCalls.Timeout. Reaching that limit is
// reported as an error of the ledger, never as the end of the caller's context.
func (e *Engine) askOnce(ctx context.Context, call func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, e.cfg.LedgerCalls.Timeout)
	defer cancel()
	defer context.AfterFunc(e.life.hard, func() { time.AfterFunc(ledgerStopTimeout, cancel) })()
	err := call(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil && !imagegen.Definite(err) {
		return fmt.Errorf("imagegen: the ledger did not answer in time: %v", err)
	}
	return err
}

// takeCredits charges what a generation may cost. It goes on if the caller hangs up.
func (e *Engine) takeCredits(ctx context.Context, r imagegen.Record) error {
	return e.askLedger(context.WithoutCancel(ctx), func(ctx context.Context) error {
		return e.ledger.Charge(ctx, r.Charge())
	})
}

// settle closes the charge of a generation. It goes on if the caller hangs up.
func (e *Engine) settle(ctx context.Context, r imagegen.Record, used imagegen.Credits) error {
	return e.askLedger(context.WithoutCancel(ctx), func(ctx context.Context) error {
		return e.ledger.Settle(ctx, r.Charge().ID, used)
	})
}

// balanceOf returns what a user can spend, as Accounts.Account returns it: of a member, the least of what its sponsor
// has and its limits leave. Unlike takeCredits and settle it ends with the caller's
// context, since nothing depends on it.
func (e *Engine) balanceOf(ctx context.Context, user imagegen.User) (b imagegen.Balance, err error) {
	err = e.askLedger(ctx, func(ctx context.Context) (err error) {
		b, err = e.readBalance(ctx, user)
		return err
	})
	return b, err
}

// readBalance is one try of balanceOf.
func (e *Engine) readBalance(ctx context.Context, user imagegen.User) (imagegen.Balance, error) {
	b, err := e.ledger.Balance(ctx, user.Payer())
	b.AccountType = user.AccountType
	if err != nil || user.Sponsor == "" {
		return b, err
	}
	var used imagegen.KeyUse
	if l, ok := e.ledger.(imagegen.CreditAdmin); ok {
		used, err = l.MemberUse(ctx, user.Sponsor, user.ID)
	}
	return user.Left(b, used), err
}
