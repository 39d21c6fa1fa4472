package imagegen_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// abandoned is an intent that a process left before its charge.
func abandoned(n int) imagegen.Record {
	return imagegen.Record{Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)), User: alice, Model: "m", Prompt: "a fox",
		N: 1, Ratio: "auto", Tier: "1K", Quality: "auto", Effort: "auto", Price: 1, Async: true, CreatedAt: time.Now()},
		Progress: imagegen.Progress{State: imagegen.StateCharging}}
}

// However much a process left behind, it is seen to in one go, not a batch at a time.
func TestRecoveryOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		const many = 150
		for n := range many {
			_, err := f.db.Create(t.Context(), abandoned(n), 0)
			f.is.NoErr(err)
		}
		time.Sleep(20 * time.Second) // one round of recovery
		synctest.Wait()
		f.is.Equal(f.count("Abandon"), many)
		f.is.Equal(f.balance(), imagegen.Credits(100))
		f.audit()
	})
}

// Work that the provider goes on with costs no try when its process dies, and is not begun anew.
func TestRecoveryOfAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := make(chan string, 1)
		f := startFaulty(t, &scripted{caps: anything, do: func(_ context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			jobs <- string(r.Job)
			yield(picture(1024, 1024), nil)
		}})
		f.is.NoErr(f.engine.Stop(t.Context()))
		r, err := f.db.CreateCharged(t.Context(), abandoned(1), time.Minute)
		f.is.NoErr(err)
		f.failBefore(first(1, "Release", imagegen.ErrNotApplied)) // it is left for the next recovery
		f.update(r.Fence(), imagegen.Claim{})
		f.update(imagegen.Fence{ID: r.ID, Attempt: 1}, imagegen.SaveJob{Job: []byte("job 7")})
		f.restart()
		f.is.Equal(<-jobs, "job 7")
		r = f.settled()[0]
		f.is.Equal(r.State, imagegen.StateSucceeded)
		f.is.Equal(r.Failures, 0)
	})
}

// Work that could not be put back into the queue is put there by recovery; until then nothing of it is removed.
func TestReleaseFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		f := startFaulty(t, &scripted{caps: anything, do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			if calls++; calls == 1 {
				yield(imagegen.ProviderImage{}, transient(1))
				return
			}
			yield(picture(1024, 1024), nil)
		}})
		f.failBefore(first(1, "Release", imagegen.ErrNotApplied))
		_, err := f.generate(imagegen.GenerateRequest{Async: true})
		f.is.NoErr(err)
		f.is.Equal(f.settled()[0].State, imagegen.StateSucceeded)
		f.is.Equal(calls, 2)
	})
}
