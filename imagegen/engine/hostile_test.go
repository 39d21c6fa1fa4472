package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// A caller who waits for a slot when a drain begins is refused at once, and not charged.
func TestDrainRefusesWhoWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		accepted := 0
		h := start(t, &scripted{caps: anything,
			do: func(ctx context.Context, _ imagegen.ProviderRequest, _ func(imagegen.ProviderImage, error) bool) {
				<-ctx.Done()
			}}, func(c *engine.Config) {
			c.Limits.Concurrency = 1
			c.Observer = imagegen.ObserverFunc(func(_ context.Context, e imagegen.Event) {
				if e.Kind == imagegen.EventAccepted {
					accepted++
				}
			})
		})
		go h.engine.As(alice).Generate(context.Background(), fox(imagegen.GenerateRequest{}))
		synctest.Wait()
		waited := make(chan error, 1)
		go func() {
			_, err := h.engine.As(alice).Generate(context.Background(), fox(imagegen.GenerateRequest{}))
			waited <- err
		}()
		synctest.Wait()
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		go h.engine.Stop(ctx)
		h.is.True(isCode(<-waited, imagegen.ErrOverloaded))
		h.is.Equal(time.Since(began), time.Duration(0))
		h.is.Equal(accepted, 1)
	})
}

// slowStore takes a while to accept, as a disk does.
type slowStore struct{ imagegen.TxStore }

func (s slowStore) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	time.Sleep(5 * time.Millisecond)
	return s.TxStore.CreateCharged(ctx, r, lease)
}

func TestQueueIsBoundedUnderConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		defer close(hold)
		h := start(t, &scripted{caps: anything,
			do: func(context.Context, imagegen.ProviderRequest, func(imagegen.ProviderImage, error) bool) { <-hold }},
			func(c *engine.Config) {
				c.Limits.Concurrency, c.Limits.MaxQueued = 1, 3
				c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
				c.Store = slowStore{c.Store.(imagegen.TxStore)}
			})
		errs := make(chan error, 64)
		for range 64 {
			go func() {
				_, err := h.engine.As(alice).Generate(context.Background(), fox(imagegen.GenerateRequest{Async: true}))
				errs <- err
			}()
		}
		accepted := 0
		for range 64 {
			if err := <-errs; err == nil {
				accepted++
			} else {
				h.is.True(isCode(err, imagegen.ErrOverloaded))
			}
		}
		h.is.True(accepted >= 1 && accepted <= 4) // three that wait, and one under way
	})
}

// unacceptable is a store whose disk is full between the charge and the acceptance.
type unacceptable struct{ imagegen.Store }

func (s unacceptable) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	if _, ok := c.(imagegen.AcceptChange); ok {
		return imagegen.Record{}, fmt.Errorf("%w: no space", imagegen.ErrNotApplied)
	}
	return s.Store.Update(ctx, f, c)
}

func TestRefusedAcceptanceUndoesTheCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), withOutsideLedger, func(c *engine.Config) {
			c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
			c.Store = unacceptable{c.Store}
		})
		_, err := h.generate(imagegen.GenerateRequest{IdempotencyKey: "k"})
		h.is.True(isCode(err, imagegen.ErrOverloaded))
		h.is.Equal(h.balance(), imagegen.Credits(100))
		_, err = h.generate(imagegen.GenerateRequest{IdempotencyKey: "k"})
		h.is.True(isCode(err, imagegen.ErrOverloaded)) // nothing was kept
	})
}

func TestTimeLimitOfTheAdmissionHookIsNotTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Admit = func(context.Context, engine.Admission) error { return context.DeadlineExceeded }
		})
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.True(isCode(err, imagegen.ErrInternal))
		h.is.True(errors.Is(err, context.DeadlineExceeded))
	})
}

// All images are there, only the provider does not return: a drain does not throw them away.
func TestDrainKeepsWhatIsComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		h := start(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				yield(picture(1024, 1024), nil)
				<-hold
			}})
		id := h.queued(imagegen.GenerateRequest{}).ID
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		h.engine.Stop(ctx)
		g, err := h.engine.As(alice).Generation(t.Context(), id)
		h.is.NoErr(err)
		h.is.Equal(g.Status, imagegen.StatusSucceeded)
		close(hold)
	})
}

// endless brings a byte every three seconds, or nothing at all, for ever.
type endless struct{ bytes int }

func (e endless) Read(p []byte) (int, error) {
	if e.bytes > 0 {
		time.Sleep(3 * time.Second)
	}
	return min(e.bytes, len(p)), nil
}

// An image that never ends holds its slot no longer than the attempt lasts; one that brings nothing
// is given up at once.
func TestBodyWithoutEnd(t *testing.T) {
	for bytes, takes := range map[int]time.Duration{1: 801 * time.Second, 0: 0} {
		t.Run(fmt.Sprintf("%d bytes at a time", bytes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := true
				h := start(t, &scripted{caps: anything,
					do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
						error) bool) {
						image := picture(1024, 1024)
						if first {
							image.Body = io.MultiReader(readerOf(noise(64)[:100]), endless{bytes})
						}
						first = false
						yield(image, nil)
					}}, func(c *engine.Config) { c.Limits.Concurrency = 1 })
				began := time.Now()
				_, err := h.generate(imagegen.GenerateRequest{})
				h.is.True(isCode(err, imagegen.ErrGenerationFailed))
				h.is.Equal(time.Since(began), takes)
				_, err = h.generate(imagegen.GenerateRequest{})
				h.is.NoErr(err)
				h.is.Equal(time.Since(began), takes)
				h.is.Equal(h.balance(), imagegen.Credits(99))
			})
		})
	}
}
