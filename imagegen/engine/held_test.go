package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// heldAccount cannot settle for a while, since another program holds the account.
type heldAccount struct {
	imagegen.TxStore
	held *atomic.Bool
}

func (s heldAccount) FinishSettled(ctx context.Context, f imagegen.Fence,
	o imagegen.OutcomeChange) (imagegen.Record, error) {
	if s.held.Load() {
		return imagegen.Record{}, imagegen.ErrAccountLocked
	}
	return s.TxStore.FinishSettled(ctx, f, o)
}

// A settlement that somebody's lock is in the way of goes through when it is gone, however long that takes: the lease
// is kept, nobody is refunded, and the provider is called once.
func TestSettlementOfAHeldAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held atomic.Bool
		held.Store(true)
		var calls atomic.Int32
		p := &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				calls.Add(1)
				yield(picture(1024, 1024), nil)
			}}
		h := start(t, p, func(c *engine.Config) {
			c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
			c.Store = heldAccount{c.Store.(imagegen.TxStore), &held}
		})
		const long = 3 * time.Minute
		time.AfterFunc(long, func() { held.Store(false) })
		began := time.Now()
		r, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		h.is.True(time.Since(began) >= long)
		h.is.Equal(r.Status, imagegen.StatusSucceeded)
		h.is.Equal(calls.Load(), int32(1))
		h.audit()
	})
}
