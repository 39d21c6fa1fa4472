package imagegentest

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// TimedStore is a storage that judges the time.
type TimedStore interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	imagegen.ImageStore
	imagegen.Spool
	imagegen.Timekeeper
	account.LoginStore
	account.TrailStore
}

// Leaps tests storages that judge the time: what a leap of the clock, a pause and a
// repair do to credits, keys, idempotency, retention and readiness, and that after a repair
// everything ends that ends by its age. open opens a storage
// with a wall clock, in a bubble of testing/synctest. Called again in the same test it
// opens what the earlier one left, which was closed if it is an io.Closer; a storage that
// does not outlive its process returns the earlier one.
func Leaps(t *testing.T, open func(t *testing.T, wall func() time.Time) func() TimedStore) {
	for name, test := range map[string]func(*leap){
		"AheadWhileItRuns":      func(l *leap) { l.leapt(25 * time.Hour) },
		"BackWhileItRuns":       func(l *leap) { l.leapt(-25 * time.Hour) },
		"Pause":                 (*leap).pause,
		"FirstStartOfYearsFast": (*leap).yearsFast,
		"SetBackAfterAnEnd":     (*leap).setBackAfterAnEnd,
	} {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "Leaps/"+name)
			synctest.Test(t, func(t *testing.T) {
				l := &leap{T: t, is: is.New(t)}
				l.open = open(t, l.wall)
				test(l)
			})
		})
	}
}

// leap is an engine over a storage whose wall clock can be set.
type leap struct {
	*testing.T
	is     *is.I
	open   func() TimedStore
	ahead  atomic.Int64 // of the wall clock, in nanoseconds
	db     TimedStore
	engine *engine.Engine
	key    imagegen.Secret
	first  imagegen.Result
}

func (l *leap) wall() time.Time { return time.Now().Add(time.Duration(l.ahead.Load())).UTC().Round(0) }

// start begins a process.
func (l *leap) start() {
	l.Helper()
	l.db = l.open()
	var err error
	l.engine, err = engine.New(engine.Config{Store: l.db, Ledger: l.db,
		Retention: engine.Retention{Generations: imagegen.IdempotencyKeyLifetime,
			Trail: imagegen.IdempotencyKeyLifetime},
		Limits: engine.Limits{MaxRefusals: 1}, Models: []engine.Model{{
			ID: Model, Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1},
		}}})
	l.is.NoErr(err)
	l.is.NoErr(l.engine.Start())
	service := l.engine
	l.Cleanup(func() { service.Stop(context.Background()) })
}

// stop ends the process.
func (l *leap) stop() {
	l.Helper()
	l.is.NoErr(l.engine.Stop(l.Context()))
	if c, ok := l.db.(io.Closer); ok {
		l.is.NoErr(c.Close())
	}
}

// furnish makes what ends by its age: a key after 10 hours, credits after 20, a generation and its
// idempotency key after 24.
func (l *leap) furnish() {
	l.Helper()
	now := l.db.Now()
	u, err := l.engine.Accounts().CreateUser(l.Context(), "alice", "")
	l.is.NoErr(err)
	l.grant(imagegen.Grant{User: u.ID, Credits: 5, Priority: 2})
	l.grant(imagegen.Grant{User: u.ID, Credits: 10, Priority: 3, Expires: now.Add(20 * time.Hour)})
	l.key, _, err = l.engine.Accounts().MintKey(l.Context(), u.ID, "", now.Add(10*time.Hour))
	l.is.NoErr(err)
	l.first = l.generate(u.ID)
	l.is.True(!l.first.Replayed)
}

func (l *leap) grant(g imagegen.Grant) {
	l.Helper()
	_, err := l.db.Grant(l.Context(), g)
	l.is.NoErr(err)
}

func (l *leap) user() imagegen.UserID {
	l.Helper()
	u, err := l.engine.Accounts().UserByName(l.Context(), "alice")
	l.is.NoErr(err)
	return u.ID
}

// generate asks for an image, always under the same idempotency key.
func (l *leap) generate(u imagegen.UserID) imagegen.Result {
	l.Helper()
	g, err := l.engine.As(u).Generate(l.Context(), imagegen.GenerateRequest{Model: Model, Prompt: "a fox",
		IdempotencyKey: "k"})
	l.is.NoErr(err)
	return g
}

// stands checks what has not ended yet.
func (l *leap) stands(key, credits, generation bool) {
	l.Helper()
	_, err := l.engine.Authenticate(l.Context(), l.key.Reveal())
	l.is.Equal(err == nil, key)
	l.is.True(err == nil || errors.Is(err, imagegen.ErrExpiredKey))
	b, err := l.db.Balance(l.Context(), l.user())
	l.is.NoErr(err)
	want := imagegen.Credits(4)
	if credits {
		want = 14
	}
	l.is.Equal(b.Credits, want)
	_, err = l.engine.As(l.user()).Generation(l.Context(), l.first.ID)
	l.is.Equal(err == nil, generation)
	l.is.True(err == nil || errors.Is(err, imagegen.ErrNotFound))
}

// doubts checks whether the clock is in doubt; the engine takes work all the same.
func (l *leap) doubts(in bool) {
	l.Helper()
	r := l.engine.Readiness(l.Context())
	l.is.True(r.Ready())
	warned := len(r.Warnings) > 0 && r.Warnings[0].Code == "clock"
	l.is.Equal(warned, in)
}

// dated checks that an entry that is made now carries the wall clock.
func (l *leap) dated() {
	l.Helper()
	l.grant(imagegen.Grant{User: "bob", Credits: 1})
	entries, err := l.db.History(l.Context(), "bob", 0, 1)
	l.is.NoErr(err)
	l.is.Equal(entries[0].Time, l.wall())
}

// leapt: whatever the clock says, things end by the time that has passed, and what had ended stays ended.
func (l *leap) leapt(by time.Duration) {
	l.start()
	l.furnish()
	before := l.makeAging("before")
	l.ahead.Store(int64(by))
	during := l.makeAging("during")
	time.Sleep(10 * time.Minute) // of maintenance
	l.doubts(true)
	l.stands(true, true, true)
	again := l.generate(l.user())
	l.is.True(again.Replayed && again.ID == l.first.ID)
	l.dated()
	time.Sleep(10 * time.Hour)
	l.stands(false, true, true)
	l.stop()
	l.start() // which ends no doubt
	l.doubts(true)
	l.stands(false, true, true)
	time.Sleep(10 * time.Hour)
	l.stands(false, false, true)
	time.Sleep(4 * time.Hour)
	l.stands(false, false, false)

	l.is.NoErr(l.db.ConfirmClock(l.Context()))
	l.doubts(false)
	l.is.Equal(l.db.Now(), l.wall())
	l.dated()
	b, err := l.db.Balance(l.Context(), l.user())
	l.is.NoErr(err)
	l.is.Equal(b.Credits, imagegen.Credits(4)) // what has expired stays expired
	l.allEnds(before, during)
}

// pause: a service that was off for a weekend believes its clock.
func (l *leap) pause() {
	l.start()
	l.furnish()
	l.stop()
	time.Sleep(60 * time.Hour)
	l.start()
	l.doubts(false)
	l.is.Equal(l.db.Now(), l.wall())
	time.Sleep(2 * time.Minute)
	l.stands(false, false, false)
	l.dated()
	l.is.True(!l.generate(l.user()).Replayed)
	l.allEnds()
}

// setBackAfterAnEnd: an erased generation's idempotency key that was free stays free, though by a clock that
// is put right its time has not come.
func (l *leap) setBackAfterAnEnd() {
	l.start()
	l.furnish()
	l.is.NoErr(l.engine.Erase(l.Context(), l.first.ID))
	time.Sleep(imagegen.IdempotencyKeyLifetime + 2*time.Minute) // of maintenance
	before := l.makeAging("before")
	l.ahead.Store(int64(-2 * time.Hour))
	l.doubts(true)
	l.is.NoErr(l.db.ConfirmClock(l.Context()))
	l.is.Equal(l.db.Now(), l.wall())
	l.is.True(!l.generate(l.user()).Replayed)
	l.allEnds(before)
}

// yearsFast: a first start with a clock five years fast can be repaired, and nothing is lost by it.
func (l *leap) yearsFast() {
	l.ahead.Store(int64(5 * 365 * 24 * time.Hour))
	l.start()
	l.furnish()
	before := l.makeAging("before")
	l.doubts(false) // there is nothing to compare it with
	l.ahead.Store(0)
	l.doubts(true)
	l.stop()
	l.start()
	l.doubts(true)
	l.stands(true, true, true)
	during := l.makeAging("during")
	l.is.NoErr(l.db.ConfirmClock(l.Context()))
	l.doubts(false)
	l.is.Equal(l.db.Now(), l.wall())
	l.dated()
	l.allEnds(before, during)
	l.stands(true, true, false) // key and credits end in five years, as they were promised
	l.stop()
	l.start()
	l.doubts(false)
}
