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

// When a provider is called, the credits are gone already; who has too few gets no call.
func TestTheChargeComesFirst(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			var h *harness
			calls := 0
			h = start(t, &scripted{caps: anything,
				do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					calls++
					if left := h.balance(); left != 98 {
						t.Errorf("the provider is called while the balance is %d", left)
					}
					yield(picture(1024, 1024), nil)
				}}, option)
			for _, async := range []bool{false, true} {
				_, err := h.engine.As(bob).Generate(t.Context(), fox(imagegen.GenerateRequest{Async: async}))
				h.is.True(isCode(err, imagegen.ErrInsufficientCredits))
				synctest.Wait()
				h.is.Equal(calls, 0)
			}
			_, err := h.generate(imagegen.GenerateRequest{N: 2})
			h.is.NoErr(err) // one came, the other was refunded
			h.ended(h.queued(imagegen.GenerateRequest{}).ID)
			h.is.Equal(calls, 2)
		})
	})
}

// doubtful accepts a generation, loses the answer and takes no more.
type doubtful struct {
	imagegen.TxStore
	calls *atomic.Int64
}

func (s doubtful) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if s.calls.Add(1) > 1 {
		return imagegen.Record{}, imagegen.ErrNotApplied
	}
	if _, err := s.TxStore.CreateCharged(ctx, r, lease); err != nil {
		return imagegen.Record{}, err
	}
	return imagegen.Record{}, errDoubt
}

// A repetition that wrote nothing says nothing of the call before it: the caller does not learn that
// it was refused, and gets its credits back.
func TestADoubtfulAcceptanceIsNotRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
			c.Store = doubtful{c.Store.(imagegen.TxStore), new(atomic.Int64)}
		})
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.True(isCode(err, imagegen.ErrInternal))
		h.is.Equal(h.balance(), imagegen.Credits(99)) // it was accepted
		time.Sleep(10 * time.Minute)
		h.is.Equal(h.balance(), imagegen.Credits(100))
		h.audit()
	})
}

// An attempt that is overtaken when its outcome is recorded leaves the images that the record names.
func TestARecordedImageStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		f.failAfter(func(call string, n int, by imagegen.Fence) error {
			if call == "Outcome" && n == 1 {
				f.update(by, imagegen.RecoverChange{})
				return errDoubt
			}
			return nil
		})
		_, err := f.generate(imagegen.GenerateRequest{})
		f.is.True(isCode(err, imagegen.ErrInternal)) // the settlement is somebody else's
		f.is.Equal(f.settled()[0].State, imagegen.StateSucceeded)
		f.is.True(f.has(f.put[0]))
	})
}

// An upstream that failed in an unknown way may have been paid: it is not called again.
func TestUnknownIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		h := start(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				calls++
				yield(imagegen.ProviderImage{}, &imagegen.ProviderError{Class: imagegen.ClassUnknown})
			}})
		h.is.Equal(h.ended(h.queued(imagegen.GenerateRequest{}).ID).Status, imagegen.StatusFailed)
		h.is.Equal(calls, 1)
		h.is.Equal(h.balance(), imagegen.Credits(100))
	})
}
