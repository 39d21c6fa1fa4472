package engine_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// untilCancelled yields one picture and waits for the end of its context, whose cause it sends.
func untilCancelled(cause chan<- error) *scripted {
	return &scripted{caps: anything,
		do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			if !yield(picture(1024, 1024), nil) {
				return
			}
			<-ctx.Done()
			cause <- context.Cause(ctx)
			yield(imagegen.ProviderImage{}, ctx.Err())
		}}
}

// An attempt that another process has overtaken learns it when its lease is prolonged next, also
// if that fails at first. Its outcome changes nothing, and its files go, even if that fails at first.
func TestOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logbook
		cause := make(chan error, 1)
		f := startFaulty(t, untilCancelled(cause), func(cfg *engine.Config) {
			cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		f.failBefore(failing(first(1, "Extend", errDoubt), first(1, "RemoveImages", errDoubt)))
		f.failAfter(func(call string, _ int, by imagegen.Fence) error {
			if call == "PutImage" {
				f.update(by, imagegen.RecoverChange{})
			}
			return nil
		})
		_, err := f.generate(imagegen.GenerateRequest{N: 2})
		f.is.True(isCode(err, imagegen.ErrInternal)) // recovery decides what becomes of it
		f.is.True(errors.Is(<-cause, imagegen.ErrStale))
		f.is.True(f.has(f.put[0]))
		f.is.True(strings.Contains(log.String(), "leases could not be prolonged") && strings.Contains(log.String(),
			"images were left behind"))
		rs := f.settled()
		f.is.Equal(rs[0].State, imagegen.StateFailed)
		f.is.True(!f.has(f.put[0]))
	})
}

// If the generation has ended meanwhile, the caller gets what it ended with.
func TestOvertakenByTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := make(chan error, 1)
		f := startFaulty(t, untilCancelled(cause))
		f.failAfter(func(call string, _ int, by imagegen.Fence) error {
			if call == "PutImage" {
				f.finishElsewhere(by)
			}
			return nil
		})
		result, err := f.generate(imagegen.GenerateRequest{N: 2})
		f.is.NoErr(err)
		f.is.True(errors.Is(<-cause, imagegen.ErrStale))
		f.is.Equal(len(result.Generation.Images), 1)
		f.is.True(!f.has(f.put[0]))
		f.is.True(f.has(imagegen.ImageKey{Generation: result.Generation.ID, Attempt: 2,
			Image: result.Generation.Images[0].ID}))
		f.is.Equal(f.settled()[0].Attempt, 2)
	})
}

// finishElsewhere ends a generation with one image of another attempt, as another process would.
func (f *faulty) finishElsewhere(by imagegen.Fence) {
	f.update(by, imagegen.RecoverChange{})
	by.Attempt++
	i := imagegen.StoredImage{ID: imagegen.ImageID(strings.Replace(string(by.ID), "gen_", "image_", 1) +
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ"), Attempt: by.Attempt,
		MediaType: "image/png", Width: 1024, Height: 1024, Size: 4, SHA256: sha256.Sum256([]byte("else")),
		CreatedAt: time.Now()}
	ctx := context.Background()
	f.is.NoErr(f.db.PutImage(ctx, imagegen.ImageKey{Generation: by.ID, Attempt: by.Attempt, Image: i.ID},
		strings.NewReader("else")))
	f.update(by, imagegen.OutcomeChange{Images: []imagegen.StoredImage{i}, At: time.Now()})
	f.is.NoErr(f.db.Settle(ctx, imagegen.ChargeID(by.ID), 1))
	f.update(by, imagegen.CloseChange{Balance: &imagegen.Balance{Credits: 99}})
}

// An image that is stored only after its attempt ended is not part of the outcome and does not stay.
func TestAnImageThatIsStoredTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		f.failAfter(func(call string, _ int, _ imagegen.Fence) error {
			if call == "PutImage" {
				time.Sleep(time.Hour)
			}
			return nil
		})
		_, err := f.generate(imagegen.GenerateRequest{})
		f.is.True(isCode(err, imagegen.ErrGenerationFailed)) // after its time and a grace
		f.is.True(f.has(f.put[0]))
		time.Sleep(time.Hour)
		f.is.True(!f.has(f.put[0]))
		f.is.Equal(f.settled()[0].State, imagegen.StateFailed)
	})
}

// An attempt that ends while its lease is being prolonged has lost nothing.
func TestTheEndMeetsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		extending, done := make(chan struct{}), make(chan struct{})
		f := startFaulty(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				<-extending
				yield(picture(1024, 1024), nil)
			}})
		f.failBefore(func(call string, n int, _ imagegen.Fence) error {
			if call == "Extend" && n == 1 {
				close(extending)
				<-done
			}
			return nil
		})
		_, err := f.generate(imagegen.GenerateRequest{})
		f.is.NoErr(err)
		synctest.Wait() // the attempt is over, and holds no lease
		close(done)
		f.is.Equal(f.settled()[0].State, imagegen.StateSucceeded)
	})
}
