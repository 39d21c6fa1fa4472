package storagetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// AgingStore is a storage that judges the time, and ends things by their age.
type AgingStore interface {
	imagegen.Store
	imagegen.Timekeeper
	account.LoginStore
	account.TrailStore
}

// Aging tests that whatever ends by its age does so across a correction of the clock: what was made while the clock ran
// fast, and what is made after it was put right. open opens an empty storage with a wall clock.
func Aging(t *testing.T, open func(t *testing.T, wall func() time.Time) AgingStore) {
	for name, ahead := range map[string]time.Duration{"HoursFast": 3 * time.Hour, "DaysFast": 50 * time.Hour,
		"YearsFast": 5 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			a := &aging{ahead: ahead}
			db := open(t, func() time.Time { return time.Now().Add(a.ahead) })
			t.Cleanup(func() { audit(t, db) })
			a.store, a.db = store{db, t, is.New(t)}, db
			a.run()
		})
	}
}

type aging struct {
	store
	db    AgingStore
	ahead time.Duration // of the wall clock
}

// pass lets time pass, in steps that are not leaps.
func (a *aging) pass(d time.Duration) {
	const step = 50 * time.Minute
	for ; d > 0; d -= step {
		a.ahead += min(d, step)
		a.db.Now()
	}
}

const aDay = 24 * time.Hour

// aged is the numbers of the records that make made.
type aged struct{ ended, failed, waiting int }

// make makes one of everything, with numbers from n on.
func (a *aging) make(n int) aged {
	ctx, now := a.t.Context(), a.db.Now().UTC().Truncate(time.Millisecond)
	dated := func(r *imagegen.Record) { r.CreatedAt = now }
	end := func(n int, o imagegen.OutcomeChange, change ...func(*imagegen.Record)) {
		r := a.bring(n, imagegen.StateProcessing, append(change, dated)...)
		o.At = now
		r = a.update(r, o)
		a.update(r, closed(r))
	}
	end(n, imagesOf(recordNo(n, func(r *imagegen.Record) { r.Attempt = 1 }), 3), withKey(fmt.Sprint("k", n)))
	end(n+1, refused(recordNo(n+1)))
	a.bring(n+2, imagegen.StateQueued, dated, of(bob))
	a.is.NoErr(a.db.CreateSignIn(ctx, signIn(byte(n), "usr_1", now)))
	a.is.NoErr(a.db.Note(ctx, account.TrailRow{Act: "a.b"}))
	return aged{n, n + 1, n + 2}
}

// has checks what a storage lists as a day old: generations that ended, such that failed, and work that waits.
func (a *aging) has(want ...aged) {
	a.t.Helper()
	ctx := a.t.Context()
	ended, err := a.Ended(ctx, aDay, 100)
	a.is.NoErr(err)
	failed, err := a.Forgettable(ctx, imagegen.StateFailed, aDay, 100)
	a.is.NoErr(err)
	var some, both []imagegen.GenerationID
	for _, w := range want {
		both, some = append(both, generationNo(w.ended), generationNo(w.failed)), append(some, generationNo(w.failed))
	}
	a.is.Equal(diff(both, idsOf(ended)), "")
	var fences []imagegen.GenerationID
	for _, f := range failed {
		fences = append(fences, f.ID)
	}
	a.is.Equal(diff(some, fences), "")
	one, err := a.Ended(ctx, aDay, 1)
	a.is.NoErr(err)
	a.is.Equal(len(one), min(len(both), 1))
}

func (a *aging) run() {
	ctx := a.t.Context()
	former := a.make(1)
	a.has()
	a.ahead = 0
	a.db.Now()
	a.is.NoErr(a.db.ConfirmClock(ctx))
	latter := a.make(11)
	rows := func() int { return len(must(a.db.Trail(ctx, account.TrailQuery{Act: "a.b", Limit: 10})).Rows) }

	a.is.NoErr(a.db.TidyTrail(ctx, a.db.Now().Add(-aDay)))
	a.is.Equal(rows(), 2)
	a.is.NoErr(a.db.EndSignInsAged(ctx, time.Hour, aDay))
	a.is.Equal(len(must(a.db.SignIns(ctx, "usr_1"))), 2)
	a.is.NoErr(a.db.TouchSignIn(ctx, signIn(1, "", epoch).Hash, a.db.Now())) // use corrects a time that was never
	a.is.True(!must(a.db.SignIn(ctx, signIn(1, "", epoch).Hash)).SeenAt.After(a.db.Now()))
	a.has()
	for n, key := range []string{"k1", "k11"} {
		_, err := a.Create(ctx, recordNo(20+n, withKey(key)), aMinute)
		a.is.True(isReserved(err))
	}

	a.pass(time.Hour + time.Minute)
	a.is.NoErr(a.db.EndSignInsAged(ctx, time.Hour, aDay))
	a.is.Equal(len(must(a.db.SignIns(ctx, "usr_1"))), 0)

	// What a clock dated that was a little fast ends a little later, and holds up nothing.
	a.pass(aDay)
	if a.db.Now().Before(must(a.Generation(ctx, generationNo(former.ended))).CompletedAt) {
		a.has(latter, former)
	} else {
		a.has(latter)
		a.pass(3 * time.Hour)
		a.has(latter, former)
	}
	for n, key := range []string{"k1", "k11"} {
		a.create(20+n, withKey(key))
	}
	old, err := a.ClaimAged(ctx, aDay, 10, aMinute)
	a.is.NoErr(err)
	a.is.Equal(len(old), 2)
	a.is.NoErr(a.db.TidyTrail(ctx, a.db.Now().Add(-aDay)))
	a.is.Equal(rows(), 0)
}

// must is the value of a call that cannot fail here.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func isReserved(err error) bool {
	_, ok := errors.AsType[*imagegen.IdempotencyKeyTakenError](err)
	return ok
}
