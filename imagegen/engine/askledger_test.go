package engine_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

func withTries(n int) func(*engine.Config) {
	return func(c *engine.Config) { c.LedgerCalls.Tries = n }
}

// A call of the ledger that fails in passing is made again at once, and the caller notices nothing.
func TestLedgerIsAskedAgain(t *testing.T) {
	for _, call := range []string{"Charge", "Settle", "Balance"} {
		for name, fail := range map[string]func(*faulty){
			"refused":         func(f *faulty) { f.failBefore(first(2, call, imagegen.ErrNotApplied)) },
			"answer lost":     func(f *faulty) { f.failAfter(first(2, call, errDoubt)) },
			"connection lost": func(f *faulty) { f.failBefore(first(2, call, errDoubt)) },
		} {
			t.Run(call+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := startFaulty(t, yieldImages(1, nil), withTries(3))
					fail(f)
					began := time.Now()
					result, err := f.generate(imagegen.GenerateRequest{N: 2})
					f.is.NoErr(err)
					f.is.Equal(result.Balance.Credits, imagegen.Credits(99))
					f.is.True(time.Since(began) < time.Second)
					f.is.Equal(f.count(call), 3)
					f.settled()
				})
			})
		}
	}
}

// How often is the embedder's to say.
func TestLedgerIsNotAskedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil), withTries(3))
		f.failBefore(first(3, "Charge", errDoubt))
		_, err := f.generate(imagegen.GenerateRequest{})
		f.is.True(isCode(err, imagegen.ErrOverloaded)) // it was voided
		f.is.Equal(f.count("Charge"), 3)
		f.is.Equal(len(f.settled()), 0)
	})
}

// The caller gets the ledger's own words for what it will never do, and the engine does not ask again.
func TestLedgerThatRefuses(t *testing.T) {
	for _, async := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const why = "this account is suspended; write to billing@example.org"
			f := startFaulty(t, yieldImages(1, nil), withTries(5))
			f.failBefore(first(1, "Charge", imagegen.ChargeRefused(why)))
			_, err := f.generate(imagegen.GenerateRequest{Async: async, IdempotencyKey: "k"})
			f.is.True(isCode(err, imagegen.ErrChargeRefused))
			refusal, _ := errors.AsType[*imagegen.Error](err)
			f.is.Equal(refusal.Message, why)
			f.is.Equal(f.count("Charge"), 1)
			f.is.Equal(len(f.settled()), 0)
			_, err = f.generate(imagegen.GenerateRequest{Async: async, IdempotencyKey: "k"})
			f.is.NoErr(err) // nothing was kept
		})
	}
}

// hangs is a ledger some of whose calls do not return before their context ends.
type hangs struct {
	imagegen.Ledger
	charge, settle *atomic.Bool
}

func (l hangs) Charge(ctx context.Context, c imagegen.Charge) error {
	if l.charge.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return l.Ledger.Charge(ctx, c)
}

func (l hangs) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	if l.settle.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return l.Ledger.Settle(ctx, id, used)
}

func hanging(c *engine.Config) hangs {
	l := hangs{c.Ledger, new(atomic.Bool), new(atomic.Bool)}
	c.Ledger = l
	return l
}

// A call of the ledger has the time that the embedder gives it, and its end is not taken for the caller's.
func TestLedgerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l hangs
		h := start(t, yieldImages(1, nil), withTries(2), func(c *engine.Config) {
			c.LedgerCalls.Timeout = 7 * time.Second
			l = hanging(c)
		})
		l.charge.Store(true)
		began := time.Now()
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.True(isCode(err, imagegen.ErrOverloaded))
		took := time.Since(began)
		h.is.True(took > 14*time.Second && took < 15*time.Second)
	})
}

// brittle is a ledger whose first charge panics.
type brittle struct {
	imagegen.Ledger
	charges *atomic.Int64
}

func (l brittle) Charge(ctx context.Context, c imagegen.Charge) error {
	if l.charges.Add(1) == 1 {
		panic("brittle")
	}
	return l.Ledger.Charge(ctx, c)
}

// A server recovers from a panic in a call; the slot of that call is there for the next.
func TestASlotSurvivesAPanicOfTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Limits.Concurrency = 1
			c.Ledger = brittle{c.Ledger, new(atomic.Int64)}
		})
		func() {
			defer func() { h.is.Equal(recover(), "brittle") }()
			h.generate(imagegen.GenerateRequest{})
		}()
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		time.Sleep(10 * time.Minute)
		h.is.Equal(h.balance(), imagegen.Credits(99)) // recovery has voided the other
		h.audit()
	})
}

// A panic of the ledger leaves no lease behind either: recovery voids asynchronous work too, and its idempotency key is
// free.
func TestALeaseSurvivesNoPanicOfTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Ledger = brittle{c.Ledger, new(atomic.Int64)} })
		again := imagegen.GenerateRequest{Async: true, IdempotencyKey: "again"}
		func() {
			defer func() { h.is.Equal(recover(), "brittle") }()
			h.generate(again)
		}()
		time.Sleep(10 * time.Minute)
		_, err := h.generate(again)
		h.is.NoErr(err)
		synctest.Wait()
		h.is.Equal(h.balance(), imagegen.Credits(99))
		h.audit()
	})
}

// silent is a ledger that tells no balance.
type silent struct{ imagegen.Ledger }

func (silent) Balance(ctx context.Context, _ imagegen.UserID) (imagegen.Balance, error) {
	<-ctx.Done()
	return imagegen.Balance{}, ctx.Err()
}

// A ledger that does not say what an account has holds up no upload for longer than one call may take.
func TestUploadBesideALedgerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.LedgerCalls.Timeout = 7 * time.Second
			c.Ledger = silent{c.Ledger}
		})
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		u, err := h.engine.As(alice).StageReference(ctx, bytes.NewReader(pngOf(1, 1)), "it")
		h.is.NoErr(err)
		h.is.Equal(time.Since(began), 7*time.Second)
		imagegen.Discard(u)
	})
}

// Stop returns in its time though a ledger hangs, whatever there is to recover; a later start sees to it.
func TestStopBesideALedgerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l hangs
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			l = hanging(c)
			l.settle.Store(true)
			for n := range 64 { // before the engine starts, so that one turn of recovery takes them all
				if _, err := c.Store.Create(t.Context(), abandoned(n), 0); err != nil {
					t.Error(err)
				}
			}
		})
		go h.engine.As(alice).Generate(t.Context(), fox(imagegen.GenerateRequest{})) // hangs in its settlement
		time.Sleep(time.Minute)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		h.is.NoErr(h.engine.Stop(ctx))
		h.is.True(time.Since(began) < 10*time.Second)
		l.settle.Store(false)
		h.restart()
		time.Sleep(10 * time.Minute)
		h.is.Equal(h.balance(), imagegen.Credits(99))
		h.audit()
	})
}

// slowCharge is a ledger that takes long over each charge.
type slowCharge struct {
	imagegen.Ledger
	takes time.Duration
}

func (l slowCharge) Charge(ctx context.Context, c imagegen.Charge) error {
	time.Sleep(l.takes)
	return l.Ledger.Charge(ctx, c)
}

// Work that takes longer to charge than a lease lasts is not taken for abandoned.
func TestLeaseWhileCharging(t *testing.T) {
	for _, async := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, yieldImages(1, nil), func(c *engine.Config) {
				c.Ledger, c.LedgerCalls.Timeout = slowCharge{c.Ledger, 2 * time.Minute}, time.Hour
			})
			r, err := h.generate(imagegen.GenerateRequest{Async: async})
			h.is.NoErr(err)
			h.is.Equal(h.ended(r.Generation.ID).Status, imagegen.StatusSucceeded)
			h.audit()
		})
	}
}

// failsAFifth is a ledger behind a bad line: a fifth of its calls fail, before or after they took effect.
type failsAFifth struct {
	imagegen.Ledger
	mu   *sync.Mutex
	dice *rand.Rand
}

func (l failsAFifth) call(do func() error) error {
	l.mu.Lock()
	fate := l.dice.IntN(15)
	l.mu.Unlock()
	switch fate {
	case 0:
		return imagegen.ErrNotApplied
	case 1:
		return errDoubt
	}
	if err := do(); err != nil || fate != 2 {
		return err
	}
	return errDoubt
}

func (l failsAFifth) Charge(ctx context.Context, c imagegen.Charge) error {
	return l.call(func() error { return l.Ledger.Charge(ctx, c) })
}

func (l failsAFifth) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	return l.call(func() error { return l.Ledger.Settle(ctx, id, used) })
}

func (l failsAFifth) Balance(ctx context.Context, u imagegen.UserID) (b imagegen.Balance, err error) {
	err = l.call(func() (err error) {
		b, err = l.Ledger.Balance(ctx, u)
		return err
	})
	return b, err
}

// Of a thousand callers at most ten see an error of ours while a fifth of the ledger's calls fail; none
// is charged wrongly, and no charge stays open.
func TestLedgerThatFailsAFifth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var ours atomic.Int64
		const callers, each = 20, 50
		h := start(t, sometimes(), func(c *engine.Config) {
			c.Ledger = failsAFifth{c.Ledger, new(sync.Mutex), rand.New(rand.NewPCG(1, 2))}
		})
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: alice, Credits: 10_000 - 100})
		is.NoErr(err)
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for n := range each {
					_, err := h.engine.As(alice).Generate(t.Context(),
						fox(imagegen.GenerateRequest{N: 2, Async: n%3 == 0}))
					if err != nil && !isCode(err, imagegen.ErrGenerationFailed) {
						ours.Add(1)
					}
				}
			})
		}
		all.Wait()
		time.Sleep(time.Hour) // recovery
		t.Logf("%d of %d callers saw an error of ours", ours.Load(), callers*each)
		is.True(ours.Load() <= 10)
		spent, generations := h.spent()
		is.True(generations >= callers*each-10)
		is.Equal(h.balanceIn(), 10_000-spent) // so that nothing is held either
		h.audit()
	})
}

// sometimes makes a provider that yields two images, one, or none.
func sometimes() *scripted {
	var n atomic.Int64
	return &scripted{caps: anything,
		do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			yieldImages(int(n.Add(1)%3), errors.New("no more")).do(ctx, r, yield)
		}}
}

// spent is what all of alice's generations cost; each has ended.
func (h *harness) spent() (credits imagegen.Credits, generations int) {
	q := imagegen.Query{Limit: imagegen.MaxPageSize}
	for {
		rs, more, err := h.db.Generations(h.Context(), alice, q)
		h.is.NoErr(err)
		for _, r := range rs {
			h.is.True(r.Terminal())
			credits += r.Used()
		}
		generations += len(rs)
		if !more {
			return credits, generations
		}
		q.After = rs[len(rs)-1].ID
	}
}

// balanceIn is alice's balance in the storage's own books.
func (h *harness) balanceIn() imagegen.Credits {
	b, err := h.db.Balance(h.Context(), alice)
	h.is.NoErr(err)
	return b.Credits
}
