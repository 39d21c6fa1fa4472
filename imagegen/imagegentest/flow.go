package imagegentest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Storage is all that an engine needs.
type Storage interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	imagegen.ImageStore
	imagegen.Spool
	imagegen.Inspector
}

// Flow tests an engine over a storage, with upstreams that take long or accept only a few
// requests. open opens an empty storage in a bubble of testing/synctest, and registers
// its closing with t.Cleanup.
func Flow(t *testing.T, open func(t *testing.T) Storage) {
	for name, test := range map[string]func(*flow){
		"FiveSeconds":      (*flow).fiveSeconds,
		"RateLimit":        func(f *flow) { f.rateLimit(0) },
		"RateLimitSaysSo":  func(f *flow) { f.rateLimit(time.Second) },
		"Outage":           (*flow).outage,
		"RetryAfter":       (*flow).retryAfter,
		"FullModel":        (*flow).fullModel,
		"SlowBesideFast":   func(f *flow) { f.slowBesideFast(0) },
		"SlowBesideFastOf": func(f *flow) { f.slowBesideFast(16) },
	} {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "Flow/"+name)
			synctest.Test(t, func(t *testing.T) {
				f := &flow{T: t, is: is.New(t), db: open(t)}
				defer f.balanced()
				test(f)
			})
		})
	}
}

const flowUser, flowCredits = imagegen.UserID("alice"), imagegen.Credits(1_000_000)

// flow is an engine, and what it was asked for.
type flow struct {
	*testing.T
	is        *is.I
	db        Storage
	engine    *engine.Engine
	upstreams []*paced

	mu      sync.Mutex
	made    map[string]int // images, by model
	errs    map[string]int
	callers sync.WaitGroup
}

// serve starts an engine with a model for each upstream, called m0, m1 and so on.
func (f *flow) serve(concurrency int, upstreams ...*paced) {
	f.Helper()
	f.upstreams, f.made, f.errs = upstreams, map[string]int{}, map[string]int{}
	c := engine.Config{Store: f.db, Ledger: f.db, Limits: engine.Limits{Concurrency: concurrency}}
	for n, u := range upstreams {
		c.Models = append(c.Models, engine.Model{ID: fmt.Sprint("m", n), Provider: u,
			Credits: map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 1}})
	}
	_, err := f.db.Grant(f.Context(), imagegen.Grant{User: flowUser, Credits: flowCredits})
	f.is.NoErr(err)
	f.engine, err = engine.New(c)
	f.is.NoErr(err)
	f.is.NoErr(f.engine.Start())
}

// call has callers ask for a model's images one after the other, until ctx ends.
func (f *flow) call(ctx context.Context, model string, callers int, async bool) {
	for range callers {
		f.callers.Go(func() {
			for ctx.Err() == nil {
				err := f.ask(ctx, model, async)
				f.mu.Lock()
				if err == nil {
					f.made[model]++
				} else {
					f.errs[said(err)]++
				}
				f.mu.Unlock()
			}
		})
	}
}

// said is an error's code, or what else it is.
func said(err error) string {
	if e, ok := errors.AsType[*imagegen.Error](err); ok {
		return string(e.Code)
	}
	return err.Error()
}

func (f *flow) ask(ctx context.Context, model string, async bool) error {
	session := f.engine.As(flowUser)
	got, err := session.Generate(context.WithoutCancel(ctx), imagegen.GenerateRequest{Model: model, Prompt: "a fox",
		N: 1, Size: imagegen.Size{Width: 16, Height: 16}, Async: async})
	for g := got.Generation; err == nil && async; g, err = session.Generation(context.WithoutCancel(ctx), got.ID) {
		switch {
		case g.Status == imagegen.StatusSucceeded:
			return nil
		case g.Status == imagegen.StatusFailed:
			return g.Failure
		}
		time.Sleep(500 * time.Millisecond)
	}
	return err
}

// images tells how many came within a time from now, of all models.
func (f *flow) images(within time.Duration) (n int) {
	count := func() (n int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, made := range f.made {
			n += made
		}
		return n
	}
	before := count()
	time.Sleep(within)
	return count() - before
}

// balanced checks, when everything has ended, that what was charged was made.
func (f *flow) balanced() {
	f.Helper()
	f.callers.Wait()
	ctx := context.Background()
	f.is.NoErr(f.engine.Stop(ctx))
	made := 0
	for _, u := range slices.Compact(f.upstreams) { // one may be behind several models
		made += u.made()
	}
	b, err := f.engine.As(flowUser).Balance(ctx)
	f.is.NoErr(err)
	f.is.Equal(b.Credits, flowCredits-imagegen.Credits(made))
	report, err := f.db.Audit(ctx)
	f.is.NoErr(err)
	f.is.Equal(len(report.Violations), 0)
}

func (f *flow) bound(model int) engine.ModelLoad { return f.engine.Health()[model].Load }

// fiveSeconds: with an upstream of 5 s, 128 callers of two models get what 128 can get, and nobody is refused.
func (f *flow) fiveSeconds() {
	const took, callers, within = 5 * time.Second, 64, 30 * time.Second
	f.serve(0, &paced{took: took}, &paced{took: took})
	ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	f.call(ctx, "m0", callers, false)
	f.call(ctx, "m1", callers/2, false)
	f.call(ctx, "m1", callers/2, true)
	time.Sleep(time.Second)
	images, could := f.images(within), 2*callers*int(within/took)
	if images < could*9/10 {
		f.Errorf("%d images, and the upstream could have made %d", images, could)
	}
	f.callers.Wait()
	f.is.Equal(len(f.errs), 0)
}

// rateLimit: an upstream that refuses more than 20 a second is asked for hardly less, and hardly more.
func (f *flow) rateLimit(says time.Duration) {
	const perSecond, callers = 20, 64
	u := &paced{took: 5 * time.Second, perSecond: perSecond, says: says}
	f.serve(0, u, u)
	ctx, cancel := context.WithTimeout(f.Context(), 75*time.Second)
	defer cancel()
	for n := range 2 {
		f.call(ctx, fmt.Sprint("m", n), callers/2, false)
		f.call(ctx, fmt.Sprint("m", n), callers/2, true)
	}
	time.Sleep(40 * time.Second)
	refused := u.refused()
	const within = 30 * time.Second
	images, could := f.images(within), perSecond*int(within/time.Second)
	if images < could*9/10 || images > could {
		f.Errorf("%d images, and the upstream gives %d", images, could)
	}
	if refused = u.refused() - refused; refused > could/50 {
		f.Errorf("%d of %d were refused after all had settled", refused, could)
	}
	f.callers.Wait()
	delete(f.errs, string(imagegen.CodeGenerationFailed)) // the synchronous ones that were refused
	f.is.Equal(len(f.errs), 0)
}

// outage: an upstream that has too much to do is asked by one at a time before long, and by all again after.
func (f *flow) outage() {
	u := &paced{took: 5 * time.Second, says: time.Second}
	f.serve(0, u)
	ctx, cancel := context.WithTimeout(f.Context(), 195*time.Second)
	defer cancel()
	const callers = 40
	f.call(ctx, "m0", callers, false)
	time.Sleep(12 * time.Second)
	f.is.Equal(f.bound(0), engine.ModelLoad{Running: callers, Bound: 64, Most: 64})
	u.setDown(true)
	time.Sleep(time.Minute)
	f.is.True(f.bound(0).Bound <= 2)
	before := u.refused()
	time.Sleep(20 * time.Second)
	f.is.True(u.refused()-before <= 20) // no more than one at a time, and each waits as it was asked to
	u.setDown(false)
	time.Sleep(90 * time.Second)
	f.is.Equal(f.bound(0).Bound, 64)
	f.is.True(f.images(10*time.Second) >= callers) // whatever ends just then
}

// retryAfter: callers do not come again before their Retry-After is over.
func (f *flow) retryAfter() {
	u := &paced{took: time.Second, says: 20 * time.Second}
	f.serve(0, u)
	u.setDown(true)
	began := time.Now()
	ctx, cancel := context.WithTimeout(f.Context(), 50*time.Second)
	defer cancel()
	f.call(ctx, "m0", 30, false)
	f.callers.Go(func() {
		time.Sleep(10 * time.Second)
		u.setDown(false)
	})
	f.callers.Wait()
	again := slices.IndexFunc(u.times(), func(at time.Time) bool { return at.Sub(began) > time.Second })
	f.is.Equal(u.times()[again].Sub(began).Round(100*time.Millisecond), 20*time.Second)
	f.is.True(f.made["m0"] > 30)
}

// fullModel: queued work of a model that is full is begun as soon as it has a place.
func (f *flow) fullModel() {
	const took = 2 * time.Minute
	f.serve(0, &paced{took: took})
	began := time.Now()
	for range 65 {
		f.callers.Go(func() {
			if err := f.ask(f.Context(), "m0", true); err != nil {
				f.Error(err)
			}
		})
	}
	f.callers.Wait()
	f.is.Equal(time.Since(began).Round(2*time.Second), 2*took)
}

// slowBesideFast: a model whose upstream hangs, with more work than can be done, takes nothing of another's.
func (f *flow) slowBesideFast(concurrency int) {
	fast := &paced{took: 200 * time.Millisecond}
	f.serve(concurrency, &paced{took: 2 * time.Minute}, fast)
	slow, stop := context.WithCancel(f.Context())
	defer stop()
	const waiting, callers = 100, 8
	f.call(slow, "m0", waiting, true)
	f.call(slow, "m0", waiting, false)
	time.Sleep(time.Second)
	stop()
	most := 64
	if concurrency > 0 {
		most = concurrency / 2
	}
	f.is.Equal(f.bound(0).Running, most)
	load, err := f.engine.Load(f.Context())
	f.is.NoErr(err)
	f.is.Equal(load.Running, most) // who waits for a model holds nothing
	ctx, cancel := context.WithTimeout(f.Context(), 20*time.Second)
	defer cancel()
	f.call(ctx, "m1", callers, false)
	f.is.True(f.images(10*time.Second) >= callers*49) // whatever ends just then
	for range 3 {                                     // queued work is begun at once, too
		began := time.Now()
		f.is.NoErr(f.ask(ctx, "m1", true))
		f.is.Equal(time.Since(began), 500*time.Millisecond) // when it is looked at
	}
}
