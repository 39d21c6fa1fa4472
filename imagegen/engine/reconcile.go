package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
)

// Reconcile returns the open charges of the ledger that no generation needs: there is no such
// generation, or it has ended without a dispute. A charge of a generation that is being abandoned at
// this moment may be among them. Charges whose identifier does not have the form of a generation's
// are ignored. Reconcile changes nothing: settle a charge of a generation that has ended to
// [imagegen.Record.Used], and any other to 0. It is for operators. [errors.ErrUnsupported]: the
// Ledger is not an [imagegen.ChargeLister].
func (e *Engine) Reconcile(ctx context.Context) (strays []imagegen.Charge, err error) {
	lister, ok := e.ledger.(imagegen.ChargeLister)
	if !ok {
		return nil, fmt.Errorf("imagegen: the Ledger lists no open charges: %w", errors.ErrUnsupported)
	}
	const page = 100
	for after := imagegen.ChargeID(""); ; {
		var open []imagegen.Charge
		err := e.askLedger(ctx, func(ctx context.Context) (err error) {
			open, err = lister.OpenCharges(ctx, after, page)
			return err
		})
		if err != nil {
			return strays, imagegen.ToUserError(err)
		}
		for _, c := range open {
			stray, err := e.unaccounted(ctx, c)
			if err != nil {
				return strays, imagegen.ToUserError(err)
			}
			if stray {
				strays = append(strays, c)
			}
		}
		if len(open) < page {
			return strays, nil
		}
		after = open[len(open)-1].ID
	}
}

// unaccounted reports whether no generation accounts for an open charge.
func (e *Engine) unaccounted(ctx context.Context, c imagegen.Charge) (bool, error) {
	id := imagegen.GenerationID(c.ID)
	if !id.Valid() {
		return false, nil
	}
	r, err := e.store.Generation(ctx, id)
	if errors.Is(err, imagegen.ErrNotFound) {
		return true, nil
	}
	return err == nil && !r.Unsettled() && r.Dispute == "", err
}
