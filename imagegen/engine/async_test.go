package engine_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

func (h *harness) queued(q imagegen.GenerateRequest) imagegen.Result {
	h.Helper()
	q.Async = true
	got, err := h.generate(q)
	h.is.NoErr(err)
	h.is.Equal(got.Status, imagegen.StatusQueued)
	h.is.Equal(got.Credits, imagegen.Credits(0))
	h.is.Equal(len(got.Images), 0)
	h.is.True(got.Balance == nil)
	return got
}

// Transient errors are tried again after 1 s and 5 s; others never.
func TestAttempts(t *testing.T) {
	limited := &imagegen.ProviderError{Class: imagegen.ClassRateLimited, RetryAfter: 20 * time.Second}
	for name, c := range map[string]struct {
		errs  []error // of the attempts in turn; then images come
		calls int64
		took  time.Duration
		ok    bool
	}{
		"works at once":   {nil, 1, 0, true},
		"works the third": {[]error{transient(1), transient(2)}, 3, 6 * time.Second, true},
		"never works": {[]error{transient(1), transient(2), transient(3), transient(4)}, 3, 6 * time.Second,
			false},
		"rate limited":          {[]error{limited}, 2, 20 * time.Second, true},
		"an unknown error":      {[]error{errors.New("?")}, 1, 0, false},
		"a permanent error":     {[]error{&imagegen.ProviderError{Class: imagegen.ClassInvalid}}, 1, 0, false},
		"refused by moderation": {[]error{&imagegen.ProviderError{Class: imagegen.ClassRefused}}, 1, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				h := start(t, &scripted{caps: anything,
					do: func(_ context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
						error) bool) {
						if n := int(calls.Add(1)); n <= len(c.errs) {
							yield(imagegen.ProviderImage{}, c.errs[n-1])
							return
						}
						yield(picture(1024, 1024), nil)
					}})
				began := time.Now()
				done := h.ended(h.queued(imagegen.GenerateRequest{}).ID)
				h.is.Equal(done.Status == imagegen.StatusSucceeded, c.ok)
				h.is.Equal(done.Failure == nil, c.ok)
				h.is.Equal(calls.Load(), c.calls)
				took := time.Since(began)
				h.is.True(took >= c.took && took < c.took+100*time.Millisecond)
				h.is.Equal(h.balance() == 99, c.ok)
				synctest.Wait()
				h.audit()
			})
		})
	}
}

func TestAsynchronousTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, &scripted{caps: anything,
			do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				<-ctx.Done()
				yield(imagegen.ProviderImage{}, transient(1)) // its word does not count: time was up
			}})
		began := time.Now()
		done := h.ended(h.queued(imagegen.GenerateRequest{}).ID)
		h.is.Equal(done.Status, imagegen.StatusFailed)
		h.is.Equal(time.Since(began).Round(time.Second), 800*time.Second)
		h.is.Equal(h.balance(), imagegen.Credits(100))
	})
}

// While work waits for another attempt its status does not go back to queued.
func TestStatusNeverGoesBackwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(0, transient(1)))
		id := h.queued(imagegen.GenerateRequest{}).ID
		synctest.Wait()
		g, err := h.engine.As(alice).Generation(t.Context(), id)
		h.is.NoErr(err)
		h.is.Equal(g.Status, imagegen.StatusProcessing)
		page, err := h.engine.As(alice).Generations(t.Context(), imagegen.Query{Status: imagegen.StatusProcessing})
		h.is.NoErr(err)
		h.is.Equal(len(page.Generations), 1)
	})
}

// One user's backlog does not starve another.
func TestQueueServesUsersInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var served []string
		h := start(t, &scripted{caps: anything,
			do: func(_ context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				served = append(served, r.Prompt)
				time.Sleep(time.Second)
				yield(picture(1024, 1024), nil)
			}}, func(c *engine.Config) { c.Limits.Concurrency = 1 })
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: bob, Credits: 10})
		h.is.NoErr(err)
		for range 5 {
			h.queued(imagegen.GenerateRequest{Prompt: "alice"})
			synctest.Wait()
		}
		for range 2 {
			_, err := h.engine.As(bob).Generate(t.Context(), fox(imagegen.GenerateRequest{Prompt: "bob", Async: true}))
			h.is.NoErr(err)
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		h.is.Equal(cmp.Diff([]string{"alice", "alice", "bob", "alice", "bob", "alice", "alice"}, served), "")
	})
}

// A drain waits for what runs; at its end synchronous work is settled with what is durable, and
// asynchronous work is finished by the next start without having lost a try.
func TestDrain(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			var drained atomic.Bool
			h := start(t, &scripted{caps: anything,
				do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					if !yield(picture(1024, 1024), nil) {
						return
					}
					if !drained.Load() {
						<-ctx.Done()
						yield(imagegen.ProviderImage{}, ctx.Err())
						return
					}
					yield(picture(1024, 1024), nil)
				}}, option, func(c *engine.Config) { c.Attempts.Backoff = []time.Duration{} }) // a single try
			async := h.queued(imagegen.GenerateRequest{N: 2, IdempotencyKey: "drained"})
			type answer struct {
				imagegen.Result
				err error
			}
			sync := make(chan answer, 1)
			go func() {
				got, err := h.engine.As(alice).Generate(context.Background(), fox(imagegen.GenerateRequest{N: 2}))
				sync <- answer{got, err}
			}()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			defer cancel()
			stopped := make(chan error, 1)
			began := time.Now()
			go func() { stopped <- h.engine.Stop(ctx) }()
			synctest.Wait()
			h.is.True(h.engine.Ready(t.Context()) != nil)
			_, err := h.generate(imagegen.GenerateRequest{})
			h.is.True(isCode(err, imagegen.ErrOverloaded)) // no new work
			_, err = h.generate(imagegen.GenerateRequest{N: 9})
			h.is.True(isCode(err, imagegen.ErrInvalidRequest)) // the error still says what is wrong
			replay, err := h.generate(imagegen.GenerateRequest{N: 2, Async: true, IdempotencyKey: "drained"})
			h.is.NoErr(err)
			h.is.True(replay.Replayed) // and what was answered is answered again
			_, err = h.engine.As(alice).Generation(t.Context(), async.ID)
			h.is.NoErr(err) // reading goes on
			h.is.NoErr(<-stopped)
			h.is.Equal(time.Since(began), 15*time.Second)
			got := <-sync
			h.is.NoErr(got.err)
			h.is.Equal(len(got.Images), 1)

			drained.Store(true)
			h.restart()
			done := h.ended(async.ID)
			h.is.Equal(done.Status, imagegen.StatusSucceeded)
			h.is.Equal(len(done.Images), 2)
			h.is.Equal(h.balance(), imagegen.Credits(97))
			synctest.Wait()
			h.audit()
		})
	})
}

// A process that died leaves records with leases; the next one brings them to an end.
func TestRecovery(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			var dead atomic.Bool
			dead.Store(true)
			h := start(t, &scripted{caps: anything,
				do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					yield(picture(1024, 1024), nil)
				}}, option)
			// What a process leaves that dies in the middle of its attempts.
			leave := func(async bool) imagegen.GenerationID {
				id, attempt := imagegen.GenerationID("gen_00000000000000000000000001"), 1
				if async {
					id, attempt = "gen_00000000000000000000000002", 0
				}
				r := imagegen.Record{Intent: imagegen.Intent{ID: id, User: alice, Model: "m", Prompt: "a fox", N: 1,
					Ratio: "auto", Tier: "1K", Quality: "auto", Effort: "auto", Price: 1, Async: async,
					CreatedAt: time.Now()}, Progress: imagegen.Progress{State: imagegen.StateCharging,
					Attempt: attempt}}
				_, err := h.db.CreateCharged(t.Context(), r, time.Minute)
				h.is.NoErr(err)
				return id
			}
			sync := leave(false)
			async := leave(true)
			g := h.ended(async)
			h.is.Equal(g.Status, imagegen.StatusSucceeded)
			time.Sleep(2 * time.Minute) // its lease has ended
			g, err := h.engine.As(alice).Generation(t.Context(), sync)
			h.is.NoErr(err)
			h.is.Equal(g.Status, imagegen.StatusFailed)
			h.is.Equal(h.balance(), imagegen.Credits(99))
			synctest.Wait()
			h.audit()
		})
	})
}

// Intent without a charge, as a death between the two leaves it with an outside ledger, is undone.
func TestRecoveryOfAnIntent(t *testing.T) {
	for name, charged := range map[string]bool{"never charged": false, "charged": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, yieldImages(1, nil), withOutsideLedger)
				r := imagegen.Record{Intent: imagegen.Intent{ID: "gen_00000000000000000000000001", User: alice,
					Model: "m", Prompt: "a fox", N: 1, Ratio: "auto", Tier: "1K", Price: 1, CreatedAt: time.Now(),
					IdempotencyKey: "k"}, Progress: imagegen.Progress{State: imagegen.StateCharging}}
				_, err := h.db.Create(t.Context(), r, time.Minute)
				h.is.NoErr(err)
				if charged {
					h.is.NoErr(h.db.Charge(t.Context(), r.Charge()))
				}
				_, err = h.generate(imagegen.GenerateRequest{IdempotencyKey: "k"})
				h.is.True(err != nil) // the key is held
				time.Sleep(2 * time.Minute)
				h.is.Equal(h.balance(), imagegen.Credits(100))
				_, err = h.db.Generation(t.Context(), r.ID)
				h.is.True(errors.Is(err, imagegen.ErrNotFound))
				// a late duplicate is refused
				h.is.True(errors.Is(h.db.Charge(t.Context(), r.Charge()), imagegen.ErrChargeClosed))
				_, err = h.generate(imagegen.GenerateRequest{IdempotencyKey: "k"})
				h.is.NoErr(err) // the key is free again
				h.audit()
			})
		})
	}
}

// A saved upstream job is handed to the next attempt, and costs no try.
func TestJobIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var jobs []string
		h := start(t, &scripted{caps: anything,
			do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				jobs = append(jobs, string(r.Job))
				if r.Job == nil {
					if err := r.SaveJob(ctx, []byte("upstream-7")); err != nil {
						yield(imagegen.ProviderImage{}, err)
						return
					}
					<-ctx.Done()
					yield(imagegen.ProviderImage{}, ctx.Err())
					return
				}
				yield(picture(1024, 1024), nil)
			}}, func(c *engine.Config) { c.Attempts.Backoff = []time.Duration{} })
		id := h.queued(imagegen.GenerateRequest{}).ID
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		h.is.NoErr(h.engine.Stop(ctx))
		h.restart()
		h.is.Equal(h.ended(id).Status, imagegen.StatusSucceeded)
		h.is.Equal(jobs, []string{"", "upstream-7"})
		h.is.Equal(h.balance(), imagegen.Credits(99))
	})
}

func TestReferencesReachTheProviderAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, &scripted{caps: anything,
			do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				for _, ref := range r.References {
					for range 2 { // again and again
						f, err := ref.Open(ctx)
						if err != nil {
							yield(imagegen.ProviderImage{}, err)
							return
						}
						b, err := io.ReadAll(f)
						f.Close()
						if err != nil || int64(len(b)) != ref.Size || ref.MediaType != "image/png" {
							yield(imagegen.ProviderImage{}, errors.New("another reference"))
							return
						}
					}
				}
				yield(picture(1024, 1024), nil)
			}})
		upload, err := h.engine.As(alice).StageReference(t.Context(), readerOf(pngOf(32, 64)), "fox.png")
		h.is.NoErr(err)
		references := func() []imagegen.Reference {
			return []imagegen.Reference{bytesReference(pngOf(16, 16)), bytesReference(pngOf(48, 16))}
		}
		got, err := h.generate(imagegen.GenerateRequest{References: append(references(), upload)})
		h.is.NoErr(err)
		h.is.Equal(got.ReferenceCount, 3)
		done := h.ended(h.queued(imagegen.GenerateRequest{References: references()}).ID)
		h.is.Equal(done.Status, imagegen.StatusSucceeded)
		synctest.Wait()
		_, err = upload.Open(t.Context())
		h.is.True(errors.Is(err, imagegen.ErrNotFound)) // removed at the end
		imagegen.Discard(upload)                        // of no effect

		_, err = h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{upload}})
		h.is.True(isCode(err, imagegen.ErrInvalidRequest)) // used before
	})
}

func TestErase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(2, nil))
		got, err := h.generate(imagegen.GenerateRequest{N: 2, IdempotencyKey: "k"})
		h.is.NoErr(err)
		h.is.NoErr(h.engine.Erase(t.Context(), got.ID))
		_, err = h.engine.As(alice).Generation(t.Context(), got.ID)
		h.is.Equal(err, imagegen.ErrNotFound)
		_, err = h.engine.OpenImage(t.Context(), got.Images[0].ID)
		h.is.True(errors.Is(err, imagegen.ErrNotFound))
		h.is.True(errors.Is(h.engine.Erase(t.Context(), got.ID), imagegen.ErrNotFound))
		_, err = h.generate(imagegen.GenerateRequest{N: 2, IdempotencyKey: "k"})
		h.is.True(errors.Is(err, imagegen.ErrNotFound)) // neither replayed nor charged again
		page, err := h.engine.As(alice).Generations(t.Context(), imagegen.Query{})
		h.is.NoErr(err)
		h.is.Equal(len(page.Generations), 0)
		h.is.Equal(h.balance(), imagegen.Credits(98)) // what was spent stays spent
		h.audit()
	})
}

func TestEraseOfWorkUnderWayIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(0, transient(1)))
		id := h.queued(imagegen.GenerateRequest{}).ID
		h.is.True(errors.Is(h.engine.Erase(t.Context(), id), imagegen.ErrInvalidRequest))
	})
}

func TestRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Retention.Generations = 48 * time.Hour })
		old, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		time.Sleep(47 * time.Hour)
		young, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		_, err = h.engine.As(alice).Generation(t.Context(), old.ID)
		h.is.NoErr(err)
		time.Sleep(90 * time.Minute)
		_, err = h.engine.As(alice).Generation(t.Context(), old.ID)
		h.is.True(errors.Is(err, imagegen.ErrNotFound))
		_, err = h.engine.As(alice).Generation(t.Context(), young.ID)
		h.is.NoErr(err)
		h.audit()
	})
}
