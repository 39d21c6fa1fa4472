package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// An erasure removes what every attempt has left, not only the last: files whose removal failed when
// they were given up are found by nobody else.
func TestErasureCoversEveryAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := startFaulty(t, yieldImages(1, nil))
		is.NoErr(f.engine.Stop(t.Context()))
		r, err := f.db.CreateCharged(t.Context(), abandoned(1), 0)
		is.NoErr(err)
		const attempts = 5
		var left []imagegen.ImageKey
		for n := 1; n <= attempts; n++ {
			f.update(r.Fence(), imagegen.ClaimChange{})
			r.Attempt++
			k := imagegen.ImageKey{Generation: r.ID, Attempt: n, Image: imagegen.ImageID("image_" + string(r.ID[4:]) +
				strings.Repeat("0", 26))}
			is.NoErr(f.db.PutImage(t.Context(), k, readerOf(pngOf(64, 64))))
			left = append(left, k)
			if n < attempts {
				f.update(r.Fence(), imagegen.ReleaseChange{})
			}
		}
		_, err = f.db.FinishSettled(t.Context(), r.Fence(), imagegen.OutcomeChange{At: r.CreatedAt})
		is.NoErr(err)
		is.NoErr(f.engine.Erase(t.Context(), r.ID))
		for _, k := range left {
			is.True(!f.has(k))
		}
		f.audit()
	})
}

// Nothing that stays of an erased generation confirms a guess of what it was, and its idempotency key
// answers any guess alike, for as long as it is reserved.
func TestErasedRequestsAreNotConfirmed(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, yieldImages(1, nil), option)
			const key = "order-1"
			result, err := h.generate(imagegen.GenerateRequest{Prompt: "a secret", IdempotencyKey: key})
			h.is.NoErr(err)
			h.is.NoErr(h.engine.Erase(t.Context(), result.Generation.ID))
			r, err := h.db.Generation(t.Context(), result.Generation.ID)
			h.is.NoErr(err)
			h.is.Equal(r.Fingerprint, [32]byte{})
			h.is.True(r.IdempotencyKey != "" && !strings.Contains(r.IdempotencyKey, key))
			for _, guess := range []string{"a secret", "another"} {
				for _, async := range []bool{false, true} {
					_, err = h.generate(imagegen.GenerateRequest{Prompt: guess, IdempotencyKey: key, Async: async})
					h.is.True(isCode(err, imagegen.ErrNotFound))
				}
			}
			time.Sleep(imagegen.IdempotencyKeyLifetime)
			_, err = h.generate(imagegen.GenerateRequest{Prompt: "another", IdempotencyKey: key})
			h.is.NoErr(err)
			h.audit()
			time.Sleep(2 * time.Minute)
			r, err = h.db.Generation(t.Context(), r.ID)
			h.is.NoErr(err)
			h.is.Equal(r.IdempotencyKey, "")
			h.audit()
		})
	})
}

// A generation that is erased for its age keeps nothing of its key, which is not reserved any more.
func TestAgedRequestsKeepNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Retention.Generations = 48 * time.Hour })
		result, err := h.generate(imagegen.GenerateRequest{IdempotencyKey: "k"})
		h.is.NoErr(err)
		time.Sleep(49 * time.Hour)
		r, err := h.db.Generation(t.Context(), result.Generation.ID)
		h.is.NoErr(err)
		h.is.Equal(r.State, imagegen.StateErased)
		h.is.Equal(r.IdempotencyKey, "")
		_, err = h.db.GenerationByIdempotencyKey(t.Context(), alice, "k")
		h.is.True(errors.Is(err, imagegen.ErrNotFound))
		h.audit()
	})
}

// An erasure that could not remove everything is repeated by the same call, which succeeds once nothing is left.
func TestErasureIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		result, err := f.generate(imagegen.GenerateRequest{})
		f.is.NoErr(err)
		id, k := result.Generation.ID, f.put[0]
		f.failBefore(failing(first(2, "RemoveImages", imagegen.ErrNotApplied), // the object store is away
			// or fails, or does not answer
			first(4, "RemoveImages", errDoubt), first(5, "RemoveImages", context.DeadlineExceeded)))
		for range 5 {
			f.is.True(isCode(f.engine.Erase(t.Context(), id), imagegen.ErrOverloaded))
			f.is.True(f.has(k))
		}
		f.is.NoErr(f.engine.Erase(t.Context(), id))
		f.is.True(!f.has(k))
		f.is.True(isCode(f.engine.Erase(t.Context(), id), imagegen.ErrNotFound))
		f.audit()
	})
}

// An erasure that recovery finishes at the same time succeeds: nothing is left.
func TestErasureThatIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		result, err := f.generate(imagegen.GenerateRequest{})
		f.is.NoErr(err)
		f.failAfter(func(call string, n int, fence imagegen.Fence) error {
			if call == "RemoveImages" && n == 1 {
				f.update(fence, imagegen.RecoverChange{})
			}
			return nil
		})
		f.is.NoErr(f.engine.Erase(t.Context(), result.Generation.ID))
		time.Sleep(time.Minute)
		r, err := f.db.Generation(t.Context(), result.Generation.ID)
		f.is.NoErr(err)
		f.is.Equal(r.State, imagegen.StateErased)
		f.audit()
	})
}
