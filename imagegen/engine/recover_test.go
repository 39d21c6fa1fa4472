package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// abandoned is an intent that a process left before its charge.
func abandoned(n int) imagegen.Record {
	return imagegen.Record{Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)), User: alice,
		Model: "m", Prompt: "a fox", N: 1, Ratio: "auto", Tier: "1K", Quality: "auto", Effort: "auto", Price: 1,
		Async: true, CreatedAt: time.Now()},
		Progress: imagegen.Progress{State: imagegen.StateCharging}}
}

// Recovery finishes all that a process left behind in one go, not a batch at a time.
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

// Nobody else takes work that waits for its turn in a recovery, however long those before it take.
func TestRecoveryHoldsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil), func(c *engine.Config) {
			c.LedgerCalls.Timeout = time.Hour
			c.Attempts.Lease = 31 * time.Second // not when this engine itself looks again, which is every three seconds
		})
		f.failBefore(func(call string, _ int, _ imagegen.Fence) error {
			if call == "Settle" {
				time.Sleep(20 * time.Second)
			}
			return nil
		})
		time.Sleep(time.Second) // the first round finds nothing, and so the next one finds all of it
		const many = 5
		for n := range many {
			_, err := f.db.Create(t.Context(), abandoned(n), 0)
			f.is.NoErr(err)
		}
		time.Sleep(20 * time.Second) // it has begun
		for range 120 {
			time.Sleep(time.Second)
			taken, err := f.db.Recover(t.Context(), many, time.Hour) // as another node does
			f.is.NoErr(err)
			f.is.Equal(len(taken), 0)
		}
		f.is.Equal(f.count("Abandon"), many)
		f.audit()
	})
}

// Recovery begins within five seconds of the end of a lease.
func TestRecoveryIsPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		time.Sleep(time.Second)
		_, err := f.db.Create(t.Context(), abandoned(1), 30*time.Second)
		f.is.NoErr(err)
		time.Sleep(29 * time.Second)
		f.is.Equal(f.count("Abandon"), 0)
		time.Sleep(6 * time.Second)
		f.is.Equal(f.count("Abandon"), 1)
		f.audit()
	})
}

// Work that the provider goes on with costs no try when its process dies, and is not begun anew.
func TestRecoveryOfAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := make(chan string, 1)
		f := startFaulty(t, &scripted{caps: anything,
			do: func(_ context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				jobs <- string(r.Job)
				yield(picture(1024, 1024), nil)
			}})
		f.is.NoErr(f.engine.Stop(t.Context()))
		r, err := f.db.CreateCharged(t.Context(), abandoned(1), time.Minute)
		f.is.NoErr(err)
		f.failBefore(first(1, "Release", imagegen.ErrNotApplied)) // it is left for the next recovery
		f.update(r.Fence(), imagegen.ClaimChange{})
		f.update(imagegen.Fence{ID: r.ID, Attempt: 1}, imagegen.SaveJobChange{Job: []byte("job 7"),
			Upstreams: []string{"scripted"}})
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
		f := startFaulty(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
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

// still is a store of a process that stands still for longer than a lease: no call of it returns.
type still struct {
	imagegen.TxStore
	from, until time.Time
}

func (s still) stand() {
	if now := time.Now(); !now.Before(s.from) {
		time.Sleep(s.until.Sub(now))
	}
}

func (s still) Extend(ctx context.Context, lease time.Duration, fences ...imagegen.Fence) ([]imagegen.Fence, error) {
	s.stand()
	return s.TxStore.Extend(ctx, lease, fences...)
}

func (s still) Recover(ctx context.Context, n int, lease time.Duration) ([]imagegen.Record, error) {
	s.stand()
	return s.TxStore.Recover(ctx, n, lease)
}

// A process that stood still for longer than a lease goes on with its own work, before it looks for
// what others have left.
func TestRecoveryAfterAStandstill(t *testing.T) {
	for from := range 15 { // Recover is called every 3 seconds
		synctest.Test(t, func(t *testing.T) {
			began := time.Now().Add(30*time.Second + time.Duration(from)*time.Second)
			h := start(t, &scripted{caps: anything,
				do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					time.Sleep(3 * time.Minute)
					yield(picture(1024, 1024), nil)
				}}, func(c *engine.Config) {
				c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
				c.Store = still{c.Store.(imagegen.TxStore), began, began.Add(time.Minute)}
			})
			_, err := h.generate(imagegen.GenerateRequest{})
			h.is.NoErr(err)
		})
	}
}

// Recovery whose lease is lost while the ledger voids a charge leaves the rest to the engine that has it.
func TestRecoveryIsOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil), func(c *engine.Config) { c.LedgerCalls.Timeout = time.Hour })
		began := time.Now()
		f.failBefore(func(call string, n int, _ imagegen.Fence) error {
			switch {
			case call == "Settle" && n == 1:
				time.Sleep(3 * time.Minute)
			case call == "Extend" && time.Since(began) < 2*time.Minute:
				return errDoubt
			}
			return nil
		})
		r, err := f.db.Create(t.Context(), abandoned(1), 0)
		f.is.NoErr(err)
		time.Sleep(90 * time.Second)
		rs, err := f.db.Recover(t.Context(), 1, time.Hour) // as another host does
		f.is.NoErr(err)
		f.is.Equal(len(rs), 1)
		f.is.Equal(rs[0].ID, r.ID)
		time.Sleep(5 * time.Minute)
		f.is.Equal(f.count("Settle"), 1)
		f.is.Equal(f.count("Abandon"), 1)
		now, err := f.db.Generation(t.Context(), r.ID)
		f.is.NoErr(err)
		f.is.Equal(now.Fence(), rs[0].Fence()) // it is there for the other
		f.is.NoErr(f.db.Settle(t.Context(), r.Charge().ID, 0))
		f.update(now.Fence(), imagegen.AbandonChange{})
		f.settled()
	})
}

// muddled is a store that hands out records of others with an error, once.
type muddled struct {
	imagegen.TxStore
	others []imagegen.Record
	seen   *bool
}

func (s muddled) Recover(ctx context.Context, n int, lease time.Duration) ([]imagegen.Record, error) {
	if !*s.seen {
		*s.seen = true
		return s.others, errDoubt
	}
	return s.TxStore.Recover(ctx, n, lease)
}

// Records that come with an error are not worked on: they were not taken.
func TestRecoveryThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := abandoned(1)
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
			_, err := c.Store.Create(t.Context(), r, time.Hour) // somebody is about to charge it
			is.New(t).NoErr(err)
			c.Store = muddled{c.Store.(imagegen.TxStore), []imagegen.Record{r}, new(bool)}
		})
		time.Sleep(time.Minute)
		got, err := h.db.Generation(t.Context(), r.ID)
		h.is.NoErr(err)
		h.is.Equal(got.State, imagegen.StateCharging)
	})
}

// A saved job that kills each process that resumes it is given up after a few times, and refunded.
func TestAJobThatKills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dead atomic.Bool // nothing that the attempt writes arrives
		var calls atomic.Int32
		f := startFaulty(t, &scripted{caps: anything,
			do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				if calls.Add(1) == 1 {
					_ = r.SaveJob(ctx, []byte("job 7"))
				}
				dead.Store(true)
				time.AfterFunc(20*time.Second, func() { dead.Store(false) }) // before its lease has ended
				yield(imagegen.ProviderImage{}, errors.New("killed"))
			}})
		f.failBefore(func(call string, _ int, _ imagegen.Fence) error {
			if call == "Outcome" && dead.Load() {
				return errDoubt
			}
			return nil
		})
		r, err := f.generate(imagegen.GenerateRequest{Async: true})
		f.is.NoErr(err)
		time.Sleep(6 * time.Hour)
		f.is.Equal(calls.Load(), int32(6)) // the first, and five that resumed
		got, err := f.engine.Record(t.Context(), r.Generation.ID)
		f.is.NoErr(err)
		f.is.Equal(got.State, imagegen.StateFailed)
		f.is.Equal(got.Resumptions, 5)
		f.is.Equal(f.balance(), imagegen.Credits(100))
		f.audit()
	})
}

// hangingFor is a ledger that never answers about a user's charges.
type hangingFor struct {
	imagegen.Ledger
	ids *sync.Map // of imagegen.ChargeID
}

func (l hangingFor) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	if _, hangs := l.ids.Load(id); hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return l.Ledger.Settle(ctx, id, used)
}

// A ledger that hangs for some users' settlements holds up nobody else's for long, however many they are.
func TestRecoveryOfOthersIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hanging := new(sync.Map)
		h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Ledger = hangingFor{c.Ledger, hanging} })
		ctx := t.Context()
		left := func(n int, u imagegen.UserID) imagegen.GenerationID {
			r := imagegen.Record{Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)),
				User: u, Model: "m", Prompt: "a fox", N: 1, Ratio: "auto", Tier: "1K", Quality: "auto", Effort: "auto",
				Price: 1, CreatedAt: time.Now()},
				Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1}}
			if u != bob {
				hanging.Store(r.Charge().ID, true)
			}
			h.is.NoErr(h.db.Charge(ctx, r.Charge()))
			_, err := h.db.Create(ctx, r, time.Minute)
			h.is.NoErr(err)
			for _, c := range []imagegen.Change{imagegen.AcceptChange{}, imagegen.OutcomeChange{At: time.Now()}} {
				_, err = h.db.Update(ctx, r.Fence(), c)
				h.is.NoErr(err)
			}
			return r.ID
		}
		_, err := h.db.Grant(ctx, imagegen.Grant{User: bob, Credits: 10})
		h.is.NoErr(err)
		for n := range 5 {
			left(n+1, alice)
		}
		first := left(6, bob)
		time.Sleep(time.Minute + 5*time.Second) // their leases have ended
		r, err := h.db.Generation(ctx, first)
		h.is.NoErr(err)
		h.is.Equal(r.State, imagegen.StateFailed)
		second := left(7, bob)
		time.Sleep(time.Minute + 5*time.Second)
		r, err = h.db.Generation(ctx, second)
		h.is.NoErr(err)
		h.is.Equal(r.State, imagegen.StateFailed)

		for n := range 120 {
			u := imagegen.UserID(fmt.Sprint("user", n%40))
			_, err := h.db.Grant(ctx, imagegen.Grant{User: u, Credits: 1})
			h.is.NoErr(err)
			left(10+n, u)
		}
		third := left(1000, bob)
		time.Sleep(10 * time.Minute)
		r, err = h.db.Generation(ctx, third)
		h.is.NoErr(err)
		h.is.Equal(r.State, imagegen.StateFailed)
	})
}

// The log sums up what a crash has interrupted, and counts an interrupted call as its only attempt.
func TestLogOfARecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logbook
		f := startFaulty(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		f.interrupted(false, 1, 0) // and so the engine is stopped
		for n := range 100 {
			_, err := f.db.Create(t.Context(), abandoned(n+1000), 0)
			f.is.NoErr(err)
		}
		f.restart()
		time.Sleep(2 * time.Minute) // the leases have ended
		synctest.Wait()
		f.is.Equal(strings.Count(log.String(), "images were not delivered"), 1)
		f.is.True(strings.Contains(log.String(), "attempt=1 asked=1 delivered=0"))
		summed := regexp.MustCompile(
			`msg="interrupted work was recovered" ended=(\d+) tried_again=(\d+) left_for_later=0`).
			FindAllStringSubmatch(log.String(), -1)
		var ended, again int
		for _, line := range summed {
			e, _ := strconv.Atoi(line[1])
			a, _ := strconv.Atoi(line[2])
			ended, again = ended+e, again+a
		}
		f.is.True(len(summed) > 0 && len(summed) <= 3) // one for each time that something was found
		f.is.Equal([]int{ended, again}, []int{101, 0})
		f.audit()
	})
}
