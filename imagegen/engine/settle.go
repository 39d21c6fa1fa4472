package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// errTakenOver leaves the outcome to recovery. A repeated write may find what that has made of the
// first one, and must not go on under a fence that is not its own.
var errTakenOver = errors.New("imagegen: recovery has taken the generation over")

// charge makes record and charge durable, in one commit where store and ledger share it; else as
// intent, charge, acceptance, each of which recovery can repeat or undo.
func (e *Engine) charge(ctx context.Context, r imagegen.Record) (imagegen.Record, error) {
	if e.joint != nil {
		got, err := repeat(ctx, func(ctx context.Context) (imagegen.Record, error) { return e.joint.CreateCharged(ctx, r, e.cfg.Lease) })
		if err == nil && !r.Async && (got.Fence() != r.Fence() || got.State != imagegen.StateProcessing) {
			err = errTakenOver
		}
		return got, err
	}
	got, err := repeat(ctx, func(ctx context.Context) (imagegen.Record, error) { return e.store.Create(ctx, r, e.cfg.Lease) })
	if err == nil && got.Fence() != r.Fence() {
		err = errTakenOver
	}
	if err != nil {
		return got, err
	}
	r = got // the intent stands: what follows is seen through
	if err := e.takeCredits(ctx, r); err != nil {
		return r, e.chargeRefused(ctx, r, err)
	}
	return e.acceptCharged(ctx, r)
}

// chargeRefused closes what the charge may have left, so that a late duplicate finds it closed.
func (e *Engine) chargeRefused(ctx context.Context, r imagegen.Record, err error) error {
	voided := e.void(ctx, r)
	if imagegen.RefusedForGood(voided) && imagegen.RefusedForGood(err) { // there is no charge to be in dispute about
		voided = e.abandon(ctx, r)
	}
	if errors.Is(err, imagegen.ErrInsufficientCredits) || errors.Is(err, imagegen.ErrChargeRefused) {
		return err // certain for the user; if the void failed, recovery repeats it
	}
	if voided == nil {
		return fmt.Errorf("%w: the charge failed and was voided: %v", imagegen.ErrNotApplied, err)
	}
	return fmt.Errorf("imagegen: charge in doubt: %v; void: %v", err, voided)
}

func (e *Engine) acceptCharged(ctx context.Context, r imagegen.Record) (imagegen.Record, error) {
	got, err := e.update(ctx, r.Fence(), imagegen.Accept{})
	switch {
	case errors.Is(err, imagegen.ErrNotApplied): // charged, but not accepted: the charge is undone before anybody is told
		return got, e.chargeRefused(ctx, r, err)
	case !errors.Is(err, imagegen.ErrStale):
		return got, err
	case got.Visible() && got.Async: // accepted after all, and claimed meanwhile
		return got, nil
	case got.Visible():
		return got, errTakenOver
	}
	return got, fmt.Errorf("%w: recovery has voided the charge", imagegen.ErrNotApplied)
}

// void closes a charge that may or may not exist, then forgets the intent. In this order.
func (e *Engine) void(ctx context.Context, r imagegen.Record) error {
	if err := e.settle(ctx, r, 0); err != nil {
		return err
	}
	return e.abandon(ctx, r)
}

func (e *Engine) abandon(ctx context.Context, r imagegen.Record) error {
	if _, err := e.update(ctx, r.Fence(), imagegen.Abandon{}); err != nil && !errors.Is(err, imagegen.ErrStale) {
		return err
	}
	return nil
}

// finish makes outcome and settlement durable, in one commit where store and ledger share it; else
// as outcome, settlement, close.
func (e *Engine) finish(ctx context.Context, r imagegen.Record, o imagegen.Outcome) (got imagegen.Record, err error) {
	ctx, closing := e.begin(ctx, imagegen.EventClosed, r)
	defer func() { closing.end(0, err) }()
	if !r.Async && len(o.Images) > 0 {
		if o.AccountType, err = e.accountType(ctx, r.User); err != nil {
			return r, err
		}
	}
	if e.joint != nil {
		return repeat(ctx, func(ctx context.Context) (imagegen.Record, error) { return e.joint.FinishSettled(ctx, r.Fence(), o) })
	}
	r, err = e.update(ctx, r.Fence(), o)
	if err != nil || r.Terminal() {
		return r, err
	}
	return e.close(ctx, r)
}

// close settles a record whose outcome is recorded. What the ledger is told follows from the record
// alone, and no later check can take it back: so a record that is not sound is not settled.
func (e *Engine) close(ctx context.Context, r imagegen.Record) (imagegen.Record, error) {
	if err := r.Check(); err != nil {
		e.cfg.Log.ErrorContext(ctx, "a settlement was refused", "generation", r.ID, "error", err)
		return r, err
	}
	refusal := e.settle(ctx, r, r.Used())
	if refusal != nil && !imagegen.RefusedForGood(refusal) {
		return r, refusal // it stays settling; recovery repeats
	}
	balance, err := e.balanceToTell(ctx, r)
	if err != nil {
		return r, err
	}
	if refusal != nil {
		return e.dispute(ctx, r, refusal, balance)
	}
	got, err := e.update(ctx, r.Fence(), imagegen.Close{Balance: balance, At: e.now()})
	if v, broken := errors.AsType[imagegen.Violation](err); broken { // the store knows of another charge than the ledger
		return e.dispute(ctx, r, v, balance)
	}
	return got, err
}

// balanceToTell is the balance that the answer tells; nil if it tells none, or the ledger never will.
func (e *Engine) balanceToTell(ctx context.Context, r imagegen.Record) (*imagegen.Balance, error) {
	if !r.WantsBalance() {
		return nil, nil
	}
	b, err := e.As(r.User).Balance(context.WithoutCancel(ctx))
	if imagegen.RefusedForGood(err) {
		return nil, nil
	}
	return &b, err
}

// update sees a change through, whatever became of the caller and however long the ledger took before it.
func (e *Engine) update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	return repeat(ctx, func(ctx context.Context) (imagegen.Record, error) { return e.store.Update(ctx, f, c) })
}

// repeat repeats an idempotent write while its outcome is unknown. Once it was, an error that says
// that a repetition wrote nothing tells nothing of the first: the whole stays unknown.
func repeat(ctx context.Context, write func(context.Context) (imagegen.Record, error)) (imagegen.Record, error) {
	r, err := write(ctx)
	if err == nil || imagegen.Definite(err) {
		return r, err
	}
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	for _, pause := range []time.Duration{50 * time.Millisecond, time.Second, 3 * time.Second} {
		time.Sleep(pause)
		again, failed := write(ctx)
		if failed == nil || errors.Is(failed, imagegen.ErrStale) {
			return again, failed
		}
		if errors.Is(failed, imagegen.ErrNotApplied) {
			break
		}
	}
	return r, fmt.Errorf("imagegen: outcome unknown: %v", err) // not wrapped: nothing in it is definite
}

// withoutCancel outlives the caller, but not for ever.
func withoutCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
}
