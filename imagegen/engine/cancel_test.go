package engine_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// busy is a provider that is at work until its context ends.
func busy() *scripted {
	return &scripted{caps: anything,
		do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			<-ctx.Done()
		}}
}

// Waiting work is cancelled, refunded and never begun; running work is not; a repetition gets the same answer.
func TestCancel(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			var events []imagegen.Event
			h := start(t, busy(), option, func(c *engine.Config) {
				c.Limits.Concurrency = 1
				c.Observer = imagegen.ObserverFunc(func(_ context.Context, e imagegen.Event) {
					events = append(events, e)
				})
			})
			running := h.queued(imagegen.GenerateRequest{}).ID
			synctest.Wait()
			waiting := h.queued(imagegen.GenerateRequest{N: 3,
				References: []imagegen.Reference{bytesReference(pngOf(64, 64))}}).ID
			session := h.engine.As(alice)
			_, err := session.Cancel(t.Context(), running)
			h.is.True(isCode(err, imagegen.ErrNotCancellable))
			_, err = h.engine.As(bob).Cancel(t.Context(), waiting)
			h.is.True(isCode(err, imagegen.ErrNotFound))
			h.is.Equal(h.balance(), imagegen.Credits(96))
			for range 2 {
				g, err := session.Cancel(t.Context(), waiting)
				h.is.NoErr(err)
				h.is.Equal(g.Status, imagegen.StatusFailed)
				h.is.Equal(g.Failure.Code, imagegen.CodeCancelled)
				h.is.Equal(h.balance(), imagegen.Credits(99))
			}
			h.is.Equal(events[len(events)-1].Kind, imagegen.EventCancelled)
			h.is.Equal(len(events), 3) // two were accepted, one was cancelled
			_, err = session.Cancel(t.Context(), "gen_none")
			h.is.True(isCode(err, imagegen.ErrNotFound))
			load, err := h.engine.Load(t.Context())
			h.is.NoErr(err)
			h.is.Equal(load.Queued, 0)
			h.audit()
		})
	})
}

// Between attempts work waits, and can be cancelled; an upstream that works on it meanwhile is not left alone.
func TestCancelBetweenAttempts(t *testing.T) {
	for _, job := range [][]byte{nil, []byte("job")} {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, &scripted{caps: anything,
				do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					h := r.SaveJob(ctx, job)
					yield(imagegen.ProviderImage{}, errors.Join(h, transient(1)))
				}})
			id := h.queued(imagegen.GenerateRequest{}).ID
			time.Sleep(500 * time.Millisecond)
			g, err := h.engine.As(alice).Cancel(t.Context(), id)
			if job != nil {
				h.is.True(isCode(err, imagegen.ErrNotCancellable))
				return
			}
			h.is.NoErr(err)
			h.is.Equal(g.Failure.Code, imagegen.CodeCancelled)
			time.Sleep(time.Minute)
			h.is.Equal(h.balance(), imagegen.Credits(100))
			h.audit()
		})
	}
}

// However many cancel what is about to begin: it is either made and paid for, or neither.
func TestCancelRaces(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	for range 20 {
		id := h.queued(imagegen.GenerateRequest{}).ID
		var (
			callers sync.WaitGroup
			errs    [4]error
		)
		for n := range errs {
			callers.Go(func() { _, errs[n] = h.engine.As(alice).Cancel(t.Context(), id) })
		}
		callers.Wait()
		g := h.ended(id)
		for _, err := range errs {
			h.is.Equal(err == nil, g.Failure != nil)
			h.is.True(err == nil || isCode(err, imagegen.ErrNotCancellable))
		}
		h.is.Equal(len(g.Images) == 1, g.Failure == nil)
	}
	h.audit()
}

// Where the settlement fails the cancellation stands: it is seen through, and the work is never begun.
func TestCancelWhoseSettlementFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(0, transient(1)), withOutsideLedger)
		got, err := f.generate(imagegen.GenerateRequest{Async: true})
		f.is.NoErr(err)
		time.Sleep(500 * time.Millisecond)
		f.failBefore(first(1, "Settle", imagegen.ErrNotApplied))
		_, err = f.engine.As(alice).Cancel(t.Context(), got.ID)
		f.is.True(err != nil)
		r := f.settled()[0]
		f.is.Equal(r.Failure.Class, imagegen.ClassCancelled)
		f.is.Equal(f.balance(), imagegen.Credits(100))
		_, err = f.engine.As(alice).Cancel(t.Context(), got.ID)
		f.is.NoErr(err)
		f.audit()
	})
}

// Where images were shown, cancelling keeps those, and cancelling again gets the same answer.
func TestCancelAfterShownImages(t *testing.T) {
	h, ctx := start(t, yieldImages(1, nil)), t.Context()
	r, err := h.db.CreateCharged(ctx, imagegen.Record{Intent: imagegen.Intent{ID: "gen_00000000000000000000000001",
		User: alice, Model: "gone", Prompt: "a fox", N: 2, Ratio: "auto", Tier: "1K", Quality: "auto", Effort: "auto",
		Price: 1, Async: true, CreatedAt: time.Now()},
		Progress: imagegen.Progress{State: imagegen.StateCharging}}, time.Minute)
	h.is.NoErr(err)
	claimed, _, err := h.db.Claim(ctx, imagegen.ClaimRequest{Most: 1, Lease: time.Minute})
	h.is.NoErr(err)
	r = claimed[0]
	i := imagegen.StoredImage{ID: imagegen.NewImageID(r.ID), Attempt: 1, MediaType: "image/png", Width: 1024,
		Height: 1024, Size: 4, SHA256: sha256.Sum256([]byte("fox!")), CreatedAt: time.Now()}
	h.is.NoErr(h.db.PutImage(ctx, r.ImageKey(i), strings.NewReader("fox!")))
	for _, c := range []imagegen.Change{imagegen.ShowChange{Images: []imagegen.StoredImage{i}},
		imagegen.ReleaseChange{}} {
		_, err = h.db.Update(ctx, r.Fence(), c)
		h.is.NoErr(err)
	}
	first, err := h.engine.As(alice).Cancel(ctx, r.ID)
	h.is.NoErr(err)
	h.is.Equal(first.Status, imagegen.StatusSucceeded)
	h.is.Equal(len(first.Images), 1)
	again, err := h.engine.As(alice).Cancel(ctx, r.ID)
	h.is.NoErr(err)
	h.is.Equal(again, first)
	h.is.Equal(h.balance(), imagegen.Credits(99))
	h.audit()
}
