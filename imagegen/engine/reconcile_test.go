package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// listing is a ledger that lists the given charges.
type listing struct {
	imagegen.Ledger
	open *[]imagegen.Charge
}

var _ imagegen.ChargeLister = listing{}

func (l listing) OpenCharges(_ context.Context, after imagegen.ChargeID, n int) ([]imagegen.Charge, error) {
	from := slices.IndexFunc(*l.open, func(c imagegen.Charge) bool { return c.ID > after })
	if from < 0 {
		return nil, nil
	}
	return (*l.open)[from:min(len(*l.open), from+n)], nil
}

// Reconcile returns the open charges that no generation accounts for.
func TestReconcile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var open []imagegen.Charge
		h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Ledger = listing{c.Ledger, &open} })
		strays, err := h.engine.Reconcile(t.Context())
		is.NoErr(err)
		is.Equal(len(strays), 0)

		done, err := h.generate(imagegen.GenerateRequest{})
		is.NoErr(err)
		waiting := abandoned(1)
		_, err = h.db.Create(t.Context(), waiting, 1<<40)
		is.NoErr(err)
		gone := abandoned(2)
		open = []imagegen.Charge{{ID: "another's"}, waiting.Charge(), gone.Charge()}
		for n := range 250 { // pages
			open = append(open, abandoned(3+n).Charge())
		}
		open = append(open, imagegen.Charge{ID: imagegen.ChargeID(done.Generation.ID)})
		strays, err = h.engine.Reconcile(t.Context())
		is.NoErr(err)
		is.Equal(len(strays), 252)
		is.Equal(strays[0], gone.Charge())
		is.Equal(strays[251].ID, imagegen.ChargeID(done.Generation.ID))
	})
}

func TestReconcileNeedsAList(t *testing.T) {
	h := start(t, yieldImages(1, nil), withOutsideLedger)
	_, err := h.engine.Reconcile(t.Context())
	h.is.True(errors.Is(err, errors.ErrUnsupported))
}
