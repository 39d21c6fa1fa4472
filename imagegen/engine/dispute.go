package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
)

// dispute ends a generation whose charge the ledger refuses to close. From then on the
// charge is the operator's task.
func (e *Engine) dispute(ctx context.Context, r imagegen.Record, refusal error,
	b *imagegen.Balance) (imagegen.Record, error) {
	got, err := e.update(ctx, r.Fence(), imagegen.DisputeChange{Detail: refusal.Error(), At: e.now(), Balance: b})
	if err == nil && got.Dispute != "" { // nothing else tells the operator until somebody asks for the list
		e.cfg.Log.ErrorContext(ctx, "the ledger refuses a settlement for good; an operator has to resolve it",
			"generation", got.ID, "user", got.User, "credits", got.Used(), "error", got.Dispute)
	}
	return got, err
}

// Resolution is how an operator ends a dispute.
type Resolution struct {
	Refund bool // true: all credits are refunded; false: what the images cost is spent
	ByHand bool // the charge was already closed in the ledger by other means: Resolve does not call the ledger
}

// Resolve ends the dispute about the charge of a generation, even of an erased one. It settles the
// charge; if the ledger does not know the charge, Resolve makes it first. It is for operators.
//
// ErrNotFound. ErrInvalidRequest: there is no dispute. If the ledger refuses again, Resolve returns
// an error that wraps the ledger's, and the dispute stays: close the charge in the ledger by other
// means, then resolve it ByHand. A Resolve that failed can be repeated.
func (e *Engine) Resolve(ctx context.Context, id imagegen.GenerationID, how Resolution) (imagegen.Record, error) {
	r, err := e.store.Generation(ctx, id)
	switch {
	case err != nil:
		return imagegen.Record{}, imagegen.ToUserError(err)
	case r.Dispute == "":
		return r, imagegen.Invalid("the charge of generation %s is not in dispute; there is nothing to resolve", id)
	}
	if !how.ByHand {
		if err := e.closeDisputed(ctx, r, how.Refund); err != nil {
			return r, fmt.Errorf("imagegen: the ledger refuses: %w", err)
		}
	}
	got, err := e.update(ctx, r.Fence(), imagegen.ResolveChange{Refund: how.Refund})
	if err == nil {
		e.observe(ctx, imagegen.EventResolved, got, refunded(got))
	}
	return got, imagegen.ToUserError(err)
}

// closeDisputed has the ledger close a charge as the operator decided.
func (e *Engine) closeDisputed(ctx context.Context, r imagegen.Record, refund bool) error {
	used := r.Used()
	if refund {
		used = 0
	}
	err := e.settle(ctx, r, used)
	if !errors.Is(err, imagegen.ErrNotFound) {
		return err
	}
	if err := e.takeCredits(ctx, r); err != nil {
		return err
	}
	return e.settle(ctx, r, used)
}

// Disputed lists the generations whose charge is in dispute, of all users and including
// erased ones, oldest first: up to limit that are newer than after ("": from the oldest).
// total is how many there are in all. It is for operators. [errors.ErrUnsupported]: the Store
// is not an [imagegen.Inspector].
func (e *Engine) Disputed(ctx context.Context, after imagegen.GenerationID,
	limit int) (records []imagegen.Record, total int, err error) {
	return e.inspect(ctx, after, limit, imagegen.Inspector.Disputed)
}
