package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/waiting"
)

// errTakenOver leaves the outcome to recovery: a repeated write found a record that
// recovery has taken over, and must not go on with a fence that is not its own.
var errTakenOver = errors.New("imagegen: recovery has taken the generation over")

// charge makes the record and the charge durable: in one commit if store and ledger share
// it, else as intent, charge and acceptance, each of which recovery can repeat or undo. An
// error that is not Definite leaves the outcome to recovery: the caller must learn that it
// is unknown.
func (e *Engine) charge(ctx context.Context, r imagegen.Record) (imagegen.Record, error) {
	if e.joint != nil {
		got, err := repeat(ctx, func(ctx context.Context) (imagegen.Record, error) {
			return e.joint.CreateCharged(ctx, r, e.cfg.Attempts.Lease)
		})
		if err == nil && !r.Async && (got.Fence() != r.Fence() || got.State != imagegen.StateProcessing) {
			err = errTakenOver
		}
		return got, err
	}
	got, err := repeat(ctx, func(ctx context.Context) (imagegen.Record, error) {
		return e.store.Create(ctx, r, e.cfg.Attempts.Lease)
	})
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

// chargeRefused closes what the charge may have left, so that a delayed duplicate finds
// it closed. It returns a Definite error only if the user is certain to keep the credits:
// what could not be closed here, recovery closes.
func (e *Engine) chargeRefused(ctx context.Context, r imagegen.Record, err error) error {
	voided := e.void(ctx, r)
	// neither was carried out, so there is no charge to dispute
	if imagegen.Permanent(voided) && imagegen.Permanent(err) {
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

// acceptCharged accepts a charged record, and undoes the charge if that fails.
func (e *Engine) acceptCharged(ctx context.Context, r imagegen.Record) (imagegen.Record, error) {
	got, err := e.update(ctx, r.Fence(), imagegen.AcceptChange{})
	switch {
	// charged, but not accepted: the charge is undone before the caller hears of it
	case errors.Is(err, imagegen.ErrNotApplied):
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

// void closes a charge that may or may not exist, and then deletes the intent. The order
// matters: until the charge is closed, recovery needs the intent.
func (e *Engine) void(ctx context.Context, r imagegen.Record) error {
	if err := e.settle(ctx, r, 0); err != nil {
		return err
	}
	return e.abandon(ctx, r)
}

// abandon deletes the intent of a record that was not charged.
func (e *Engine) abandon(ctx context.Context, r imagegen.Record) error {
	if _, err := e.update(ctx, r.Fence(), imagegen.AbandonChange{}); err != nil && !errors.Is(err, imagegen.ErrStale) {
		return err
	}
	return nil
}

// finish makes the outcome and the settlement durable: in one commit if store and ledger
// share it, else as outcome, settlement and close. The record of the outcome comes first,
// since recovery must be able to repeat the settlement to the same amount.
func (e *Engine) finish(ctx context.Context, r imagegen.Record, o imagegen.OutcomeChange) (got imagegen.Record,
	err error) {
	ctx, closing := e.beginStep(ctx, imagegen.EventClosed, r)
	defer func() { closing.report(0, err) }()
	if !r.Async && len(o.Images) > 0 {
		user, err := e.insistAccount(ctx, r.User)
		if err != nil {
			return r, err
		}
		o.AccountType = user.AccountType
	}
	if e.joint != nil {
		return insist(ctx, e.life.hard, func(ctx context.Context) (imagegen.Record, error) {
			return e.joint.FinishSettled(ctx, r.Fence(), o)
		})
	}
	r, err = e.insistUpdate(ctx, r.Fence(), o)
	if err != nil || r.Terminal() {
		return r, err
	}
	return e.close(ctx, r)
}

// close settles a record whose outcome is recorded. The record alone decides what the
// ledger gets, and nothing can take that back. So a record that breaks an invariant is
// not settled.
func (e *Engine) close(ctx context.Context, r imagegen.Record) (imagegen.Record, error) {
	if err := r.Check(); err != nil {
		e.cfg.Log.ErrorContext(ctx, "a settlement was refused", "generation", r.ID, "error", err)
		return r, err
	}
	refusal := e.settle(ctx, r, r.Used())
	if refusal != nil && !imagegen.Permanent(refusal) {
		return r, refusal // it stays settling; recovery repeats
	}
	balance, err := e.balanceToTell(ctx, r)
	if err != nil {
		return r, err
	}
	if refusal != nil {
		return e.dispute(ctx, r, refusal, balance)
	}
	got, err := e.insistUpdate(ctx, r.Fence(), imagegen.CloseChange{Balance: balance, At: e.now()})
	// the store knows of another charge than the ledger
	if v, broken := errors.AsType[imagegen.Violation](err); broken {
		return e.dispute(ctx, r, v, balance)
	}
	return got, err
}

// balanceToTell is the balance in the answer; nil if the answer has none, or the ledger
// will never tell it.
func (e *Engine) balanceToTell(ctx context.Context, r imagegen.Record) (*imagegen.Balance, error) {
	if !r.WantsBalance() {
		return nil, nil
	}
	user, err := e.insistAccount(ctx, r.User)
	if err != nil {
		return nil, err
	}
	b, err := e.balanceOf(context.WithoutCancel(ctx), user)
	if imagegen.Permanent(err) {
		return nil, nil
	}
	return &b, err
}

// update carries a change through, even if the caller has left or the ledger took long
// before it.
func (e *Engine) update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	return repeat(ctx, func(ctx context.Context) (imagegen.Record, error) { return e.store.Update(ctx, f, c) })
}

// insistUpdate is update for a change that nothing makes up for, see insist.
func (e *Engine) insistUpdate(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	return insist(ctx, e.life.hard, func(ctx context.Context) (imagegen.Record, error) {
		return e.store.Update(ctx, f, c)
	})
}

// insistAccount returns a user as it is charged and priced, see insist.
func (e *Engine) insistAccount(ctx context.Context, u imagegen.UserID) (imagegen.User, error) {
	return insist(ctx, e.life.hard, func(ctx context.Context) (imagegen.User, error) {
		return e.accounts.Account(ctx, u)
	})
}

// repeatPauses are the pauses before a call of the Store is repeated.
var repeatPauses = []time.Duration{50 * time.Millisecond, time.Second, 3 * time.Second}

// repeat repeats an idempotent write while its outcome is unknown. After that, an error
// which says that the repetition wrote nothing says nothing about the first try: the
// outcome stays unknown.
func repeat(ctx context.Context, write func(context.Context) (imagegen.Record, error)) (imagegen.Record, error) {
	r, err := write(ctx)
	if err == nil || imagegen.Definite(err) {
		return r, err
	}
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	for _, pause := range repeatPauses {
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

// insist is repeat for what ends an attempt. It also repeats what changed nothing but may succeed
// later, as while a database restarts: if the attempt gave up then, images that were made and
// stored would be lost, since recovery knows only those that were shown. Once hard has ended, it
// repeats nothing that was refused: the engine ends at once, maybe because the Store has failed for
// good, and callers must learn that.
//
// What another program's lock is in the way of is repeated for as long as that takes: the lease is prolonged meanwhile,
// and nobody is refunded, nor the provider called again, because somebody holds a lock.
func insist[T any](ctx, hard context.Context, do func(context.Context) (T, error)) (v T, err error) {
	var doubt error // of the first call whose outcome is unknown
	for try := 0; ; try++ {
		within, cancel := withoutCancel(ctx) // each has its own time: one that takes long must not spoil the next
		v, err = do(within)
		cancel()
		if err == nil || errors.Is(err, imagegen.ErrStale) || doubt == nil && finally(err) {
			return v, err
		}
		if doubt == nil && !imagegen.Definite(err) {
			doubt = err
		}
		if errors.Is(err, imagegen.ErrAccountLocked) {
			try = min(try, len(repeatPauses)-1)
		}
		if try == len(repeatPauses) || !mayRepeat(hard, err, repeatPauses[try]) {
			break
		}
	}
	if doubt != nil {
		return v, fmt.Errorf("imagegen: outcome unknown: %v", doubt) // not wrapped: nothing in it is definite
	}
	return v, err
}

// mayRepeat waits until it is time to repeat what failed with err. It returns false if that is not to be
// repeated, as soon as that is known.
func mayRepeat(hard context.Context, err error, wait time.Duration) bool {
	if !imagegen.Definite(err) {
		time.Sleep(wait)
		return true
	}
	waiting.Pause(hard, wait)
	return hard.Err() == nil
}

// finally reports whether an error says that a repetition would fail too.
func finally(err error) bool {
	_, broken := errors.AsType[imagegen.Violation](err)
	return broken || imagegen.Permanent(err)
}

// withoutCancel returns a context that outlives the caller's, by at most 30 seconds from
// now. It keeps the values of the caller's, such as the actor and the request's identifier.
func withoutCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
}
