package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// Work that is due begins soon after a slow clock is set right.
func TestClockThatIsSetRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Int64
		now := func() time.Time { return time.Now().Add(-time.Duration(slow.Load())) }
		calls := 0
		h := start(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				if calls++; calls == 1 {
					yield(imagegen.ProviderImage{}, transient(1))
					return
				}
				yield(picture(1024, 1024), nil)
			}}, func(c *engine.Config) {
			db := memory.New(&memory.Options{Now: now})
			if _, err := db.Grant(t.Context(), imagegen.Grant{User: alice, Credits: 100}); err != nil {
				t.Fatal(err)
			}
			c.Store, c.Ledger, c.Images, c.Spool, c.Now = db, db, db, db, now
		})
		g, err := h.generate(imagegen.GenerateRequest{Async: true})
		h.is.NoErr(err)
		synctest.Wait() // it has failed once, and is due in a second
		h.is.NoErr(h.engine.Stop(t.Context()))
		slow.Store(int64(6 * time.Hour)) // as of a machine that comes up
		h.restart()
		time.Sleep(10 * time.Second)
		slow.Store(0)
		time.Sleep(time.Minute)
		got, err := h.engine.As(alice).Generation(t.Context(), g.ID)
		h.is.NoErr(err)
		h.is.Equal(got.Status, imagegen.StatusSucceeded)
	})
}

// Files of an attempt that was cut short go when the generation is given up.
func TestFormerImagesOfWorkThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faults{}
		h := start(t, &scripted{caps: anything,
			do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				yield(picture(1024, 1024), nil)
				<-ctx.Done()
			}}, f.use, func(c *engine.Config) { c.Attempts.MaxAge = time.Hour })
		f.failBefore(failing(first(1000, "RemoveImages", errDoubt)))
		g, err := h.generate(imagegen.GenerateRequest{Async: true, N: 2})
		h.is.NoErr(err)
		synctest.Wait()
		now, cancel := context.WithCancel(t.Context())
		cancel()
		h.is.NoErr(h.engine.Stop(now))
		f.failBefore(nil)
		h.is.Equal(len(f.put), 1)
		time.Sleep(2 * time.Hour)
		h.restart()
		h.is.Equal(h.ended(g.ID).Status, imagegen.StatusFailed)
		_, err = h.db.OpenImage(t.Context(), f.put[0])
		h.is.True(err != nil)
		h.audit()
	})
}

// backlog is a provider that takes a minute for an image; the first call for a prompt "twice" fails, that for
// "saved" saves a job and goes on until it is stopped.
func backlog() *scripted {
	calls := map[string]int{}
	return &scripted{caps: anything,
		do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			calls[r.Prompt]++
			switch {
			case r.Prompt == "twice" && calls[r.Prompt] == 1:
				yield(imagegen.ProviderImage{}, transient(1))
				return
			case r.Prompt == "saved" && r.Job == nil:
				_ = r.SaveJob(ctx, []byte("job"))
				<-ctx.Done()
				return
			}
			time.Sleep(time.Minute)
			yield(picture(1024, 1024), nil)
		}}
}

// Work that was begun goes on before the same user's fresh work: a retry, and a job that was paid for.
func TestBegunWorkGoesAhead(t *testing.T) {
	for _, prompt := range []string{"twice", "saved"} {
		t.Run(prompt, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, backlog(), func(c *engine.Config) { c.Limits.Concurrency = 1 })
				began := time.Now()
				id := h.queued(imagegen.GenerateRequest{Prompt: prompt}).ID
				synctest.Wait()
				for range 60 {
					h.queued(imagegen.GenerateRequest{})
				}
				if prompt == "saved" {
					now, cancel := context.WithCancel(t.Context())
					cancel()
					h.is.NoErr(h.engine.Stop(now))
					h.restart()
				}
				h.is.Equal(h.ended(id).Status, imagegen.StatusSucceeded)
				h.is.True(time.Since(began) < 3*time.Minute)
			})
		})
	}
}

// Work that is put back, however long that takes, holds up nothing that was claimed with it.
func TestWorkPutBackHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faults{}
		h := start(t, backlog(), f.use, func(c *engine.Config) { c.Limits.Concurrency = 1 })
		saved := h.queued(imagegen.GenerateRequest{Prompt: "saved"}).ID
		synctest.Wait()
		fox := h.queued(imagegen.GenerateRequest{}).ID
		now, cancel := context.WithCancel(t.Context())
		cancel()
		h.is.NoErr(h.engine.Stop(now))

		f.failBefore(func(call string, _ int, of imagegen.Fence) error {
			if call == "Release" && of.ID == saved {
				time.Sleep(time.Hour)
			}
			return nil
		})
		h.cfg.Limits.Concurrency = 2
		h.cfg.Models[0].Upstreams = []string{"another"} // which would make the saved job again
		began := time.Now()
		h.restart()
		h.is.Equal(h.ended(fox).Status, imagegen.StatusSucceeded)
		h.is.True(time.Since(began) < 5*time.Minute)
		f.failBefore(nil)
	})
}
