package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/proof/internal/figures"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

const (
	user  = imagegen.UserID("alice")
	money = imagegen.Credits(1000)
	price = imagegen.Credits(7)
)

var asked = imagegen.Size{Width: 64, Height: 48}

// Whatever a provider does: its caller gets an answer in time, pays for what was delivered and not more,
// the next caller is served, and nothing is left.
func TestMisdeeds(t *testing.T) {
	var f figures.Figures
	for name, m := range misdeeds {
		for _, async := range []bool{false, true} {
			for _, v := range imagegen.Verifications() {
				mode := map[bool]string{false: "synchronous", true: "asynchronous"}[async]
				t.Run(fmt.Sprintf("%s/%s/%s", name, mode, v), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { newTrial(t, m.verified(v), v).run(async) })
				})
				f.Add("calls", 1)
			}
		}
	}
	f.Add("misdeeds", len(misdeeds))
	f.Report(t, "misdeeds")
}

// trial is an engine with one slot, whose provider misbehaves first and is good afterwards.
type trial struct {
	*testing.T
	is      *is.I
	misdeed misdeed
	db      *memory.DB
	shelf   *witness.Shelf
	engine  *engine.Engine
}

func newTrial(t *testing.T, m misdeed, v imagegen.Verification) *trial {
	is := is.New(t)
	db := memory.New(nil)
	r := &trial{T: t, is: is, misdeed: m, db: db, shelf: witness.NewShelf(db, &spool{})}
	first := true
	provider := scripted{func(c call) {
		if first {
			first = false
			m.do(c)
			return
		}
		c.good(c.N)
	}}
	var err error
	r.engine, err = engine.New(engine.Config{Store: db, Ledger: db, Images: r.shelf, Spool: r.shelf,
		Limits: engine.Limits{Concurrency: 1}, Attempts: engine.Attempts{Timeout: limit, Grace: grace},
		Models: []engine.Model{{ID: "m", Provider: provider, Verify: v,
			Credits: map[imagegen.Tier]imagegen.Credits{"1K": price}}}})
	is.NoErr(err)
	is.NoErr(r.engine.Start())
	t.Cleanup(func() { // of a trial that failed; the others have stopped
		r.engine.Stop(context.Background())
		time.Sleep(stuck)
	})
	_, err = db.Grant(t.Context(), imagegen.Grant{User: user, Credits: money})
	is.NoErr(err)
	return r
}

// mostAllocated bounds what one call takes of memory, all in all. An image of 256 MiB goes through pieces that are used
// again, of which the race detector drops a quarter: 64 MiB, and what the spool of this test takes. So much more would
// be a picture that a header only declares, or bytes that are held instead of passed on.
const mostAllocated = 160 << 20

func (r *trial) run(async bool) {
	began, before := time.Now(), allocated()
	g := r.generate(async)
	r.is.Equal(time.Since(began), r.misdeed.takes)
	if n := allocated() - before; n > mostAllocated {
		r.Errorf("%d MiB were allocated", n>>20)
	}
	r.delivered(g, r.misdeed.images)
	r.balance(r.misdeed.images)

	r.nextIsServed(began)
	r.is.NoErr(r.engine.Stop(r.Context()))
	time.Sleep(stuck) // for what comes late
	r.balance(r.misdeed.images + 1)
	r.nothingLeft()
}

// generate asks for three images and returns what has become of them.
func (r *trial) generate(async bool) imagegen.Generation {
	s := r.engine.As(user)
	got, err := s.Generate(r.Context(), imagegen.GenerateRequest{Model: "m", Prompt: "a fox", N: 3, Size: asked,
		Async: async})
	if failed, ok := errors.AsType[*imagegen.Error](err); ok && errors.Is(err, imagegen.ErrGenerationFailed) && !async {
		lasting := imagegen.Failure{Class: imagegen.ClassInvalid}
		// a safe one, whatever was said
		r.is.True(failed.Message == imagegen.ErrGenerationFailed.Message || failed.Message == lasting.Message())
		g, err := s.Generation(r.Context(), failed.Generation)
		r.is.NoErr(err)
		return g
	}
	r.is.NoErr(err)
	if !async {
		r.is.Equal(got.Balance.Credits, money-got.Credits)
	}
	g := got.Generation
	for !g.Status.Terminal() {
		synctest.Wait()
		if g, err = s.Generation(r.Context(), got.ID); !g.Status.Terminal() {
			time.Sleep(time.Second)
		}
		r.is.NoErr(err)
	}
	return g
}

// delivered checks what the owner sees.
func (r *trial) delivered(g imagegen.Generation, images int) {
	r.is.Equal(len(g.Images), images)
	r.is.Equal(g.Credits, price*imagegen.Credits(images))
	r.is.Equal(g.CreditsRequested, 3*price)
	r.is.Equal(g.Status == imagegen.StatusFailed, images == 0)
	r.is.Equal(g.Failure != nil, images == 0)
	for _, i := range g.Images {
		r.is.Equal(imagegen.Size{Width: i.Width, Height: i.Height}, asked)
		f, err := r.engine.OpenImage(r.Context(), i.ID)
		r.is.NoErr(err)
		n, err := io.Copy(io.Discard, f)
		r.is.NoErr(err)
		r.is.Equal(n, f.Size)
		r.is.NoErr(f.Close())
	}
}

func (r *trial) balance(images int) {
	b, err := r.db.Balance(r.Context(), user)
	r.is.NoErr(err)
	r.is.Equal(b.Credits, money-price*imagegen.Credits(images))
}

// nextIsServed asks again: the slot is free as soon as the provider has returned, and not before.
func (r *trial) nextIsServed(began time.Time) {
	q := imagegen.GenerateRequest{Model: "m", Prompt: "another", Size: asked}
	if wait := time.Until(began.Add(r.misdeed.frees)); wait > 0 {
		if wait > time.Minute {
			_, err := r.engine.As(user).Generate(r.Context(), q)
			r.is.True(errors.Is(err, imagegen.ErrOverloaded))
		}
		time.Sleep(time.Until(began.Add(r.misdeed.frees)))
	}
	synctest.Wait()
	now := time.Now()
	_, err := r.engine.As(user).Generate(r.Context(), q)
	r.is.NoErr(err)
	r.is.Equal(time.Since(now), time.Duration(0))
}

// nothingLeft checks the books, and that what lies there is named by a record. That no goroutine is
// left, the end of the bubble checks.
func (r *trial) nothingLeft() {
	report, err := r.db.Audit(context.Background())
	r.is.NoErr(err)
	r.is.Equal(report.Violations, nil)
	images, spooled := r.shelf.Inventory()
	r.is.Equal(len(images), r.misdeed.images+1)
	r.is.Equal(len(images), report.Images)
	r.is.Equal(len(spooled), 0)
}

// allocated is how many bytes were ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
