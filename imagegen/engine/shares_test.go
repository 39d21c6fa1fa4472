package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// slow is a provider that takes a time for each image.
func slow(d time.Duration) *scripted {
	return &scripted{caps: anything,
		do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			select {
			case <-time.After(d):
				yield(picture(1024, 1024), nil)
			case <-ctx.Done():
				yield(imagegen.ProviderImage{}, context.Cause(ctx))
			}
		}}
}

// grant gives a user what they want.
func (h *harness) grant(u imagegen.UserID) {
	h.Helper()
	_, err := h.db.Grant(h.Context(), imagegen.Grant{User: u, Credits: 10_000})
	h.is.NoErr(err)
}

// fill queues work of a user until it is refused, and returns how much was taken.
func (h *harness) fill(u imagegen.UserID) (taken int) {
	h.Helper()
	for {
		_, err := h.engine.As(u).Generate(h.Context(), fox(imagegen.GenerateRequest{Async: true}))
		if err != nil {
			e, ok := errors.AsType[*imagegen.Error](err)
			h.is.True(ok && e.Code == imagegen.CodeOverloaded && e.RetryAfter > 0)
			return taken
		}
		taken++
	}
}

// One of several users holds at most half of the queue, and leaves a slot to who holds none.
func TestShares(t *testing.T) {
	for name, test := range map[string]struct {
		fair    bool
		known   int // users in the store
		several bool
		queued  int // the most of one user
		running int
	}{
		"alone":                   {fair: true, queued: 20, running: 4},
		"alone in the store":      {fair: true, known: 1, queued: 20, running: 4},
		"two in the store":        {fair: true, known: 2, queued: 10, running: 3},
		"two who ask":             {fair: true, several: true, queued: 10, running: 3},
		"an embedder, by default": {known: 2, several: true, queued: 20, running: 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, slow(time.Hour), func(c *engine.Config) {
					c.Limits = engine.Limits{Concurrency: 4, MaxQueued: 20, FairShares: test.fair}
				})
				for _, u := range []imagegen.UserID{alice, bob}[:test.known] {
					h.is.NoErr(h.db.CreateUser(t.Context(), imagegen.User{ID: u, Name: string(u),
						AccountType: imagegen.DefaultAccountType}))
				}
				if test.several {
					_, err := h.engine.As(bob).Generate(t.Context(), fox(imagegen.GenerateRequest{}))
					h.is.True(isCode(err, imagegen.ErrInsufficientCredits)) // it was asked, all the same
				}
				time.Sleep(2 * time.Minute) // maintenance looks who is there
				h.is.Equal(h.fillAndCount(), [2]int{test.queued, test.running})
			})
		})
	}
}

// fillAndCount has alice ask until she is refused, and tells how much of hers waits and runs.
func (h *harness) fillAndCount() [2]int {
	h.Helper()
	for h.fill(alice) > 0 {
		synctest.Wait() // the dispatcher takes what it can
	}
	q, err := h.db.Queued(h.Context(), alice)
	h.is.NoErr(err)
	return [2]int{q.Own, h.load().Running}
}

// A new user of a service that another has filled is served at once, and has their own half of the queue.
func TestRoomForWhoComesNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, slow(10*time.Second), func(c *engine.Config) {
			c.Limits = engine.Limits{Concurrency: 4, MaxQueued: 20, FairShares: true}
		})
		h.grant(bob)
		for _, name := range []string{"one", "two"} {
			_, err := h.engine.Accounts().CreateUser(t.Context(), name, "")
			h.is.NoErr(err)
		}
		time.Sleep(2 * time.Minute) // maintenance looks who is there
		h.fillAndCount()
		began := time.Now()
		_, err := h.engine.As(bob).Generate(t.Context(), fox(imagegen.GenerateRequest{}))
		h.is.NoErr(err)
		h.is.Equal(time.Since(began), 10*time.Second)
		taken := h.fill(bob)
		h.is.True(taken == 10 || taken == 11) // one of which may run by now
	})
}

// Whatever others do, everybody's work is done soon: a user who holds none waits for no more slots than
// there are others who hold none.
func TestNobodyStarves(t *testing.T) {
	const (
		slots, users = 4, 12
		took         = 10 * time.Second
	)
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 0))
			failing := &scripted{caps: anything,
				do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					time.Sleep(took)
					yield(imagegen.ProviderImage{}, errors.New("no image")) // which costs the test no time
				}}
			h := start(t, failing, func(c *engine.Config) {
				c.Limits = engine.Limits{Concurrency: slots, MaxQueued: 10_000, FairShares: seed%2 == 0,
					SlotWait: time.Hour}
			})
			ctx, cancel := context.WithCancel(t.Context())
			var crowd sync.WaitGroup
			ask := func(u imagegen.UserID, async bool) (time.Duration, error) {
				began := time.Now()
				got, err := h.engine.As(u).Generate(ctx, fox(imagegen.GenerateRequest{Async: async}))
				for g := got.Generation; err == nil && !g.Status.Terminal(); time.Sleep(time.Second) {
					g, err = h.engine.As(u).Generation(ctx, got.ID)
				}
				if errors.Is(err, imagegen.ErrGenerationFailed) {
					err = nil
				}
				return time.Since(began), err
			}
			// each with more of both kinds than can ever be done
			for _, greedy := range []imagegen.UserID{"greedy", "greedier"} {
				h.grant(greedy)
				for range 50 {
					_, err := h.engine.As(greedy).Generate(ctx, fox(imagegen.GenerateRequest{Async: true}))
					h.is.NoErr(err)
					crowd.Go(func() {
						for err := error(nil); err == nil; {
							_, err = ask(greedy, false)
						}
					})
				}
			}
			var modest sync.WaitGroup
			waits := make([]time.Duration, users)
			for n := range users {
				u := imagegen.UserID(fmt.Sprint("user", n))
				h.grant(u)
				pauses, kinds := make([]time.Duration, 5), make([]bool, 5)
				for i := range pauses {
					pauses[i], kinds[i] = time.Duration(dice.IntN(60))*time.Second, dice.IntN(2) == 0
				}
				modest.Go(func() {
					for i, pause := range pauses {
						time.Sleep(pause)
						d, err := ask(u, kinds[i])
						if err != nil {
							t.Error(u, err)
						}
						waits[n] = max(waits[n], d)
					}
				})
			}
			modest.Wait()
			// Slots get free, all others are served in each kind, then the work itself is done. Who is served and asks
			// again at once may come first once more, since the queue takes its turns as a whole; so twice is allowed.
			// Starving takes for ever.
			most := took * (1 + 2*2*(users+2)/slots + 1)
			if worst := slices.Max(waits); worst > most {
				t.Errorf("seed %d: somebody waited for %v, and no more than %v was due", seed, worst, most)
			}
			cancel()
			crowd.Wait()
			h.is.NoErr(h.engine.Stop(ctx))
		})
	}
}
