package bound_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/engine/internal/bound"
)

// upstream takes a time for what it takes in, and refuses the rest.
type upstream struct {
	perSecond, atOnce int // 0: any number
	takes             func() time.Duration
	says              time.Duration // Retry-After

	accepted      []time.Time // within the last second
	working       []request
	under         int
	made, refused int
}

type request struct {
	began, ends time.Time
	accepted    bool
}

func (u *upstream) ask(now time.Time) {
	for len(u.accepted) > 0 && now.Sub(u.accepted[0]) >= time.Second {
		u.accepted = u.accepted[1:]
	}
	r := request{began: now, ends: now.Add(50 * time.Millisecond)}
	if (u.perSecond == 0 || len(u.accepted) < u.perSecond) && (u.atOnce == 0 || u.under < u.atOnce) {
		r.accepted, r.ends = true, now.Add(u.takes())
		u.accepted = append(u.accepted, now)
		u.under++
	}
	u.working = append(u.working, r)
}

// end tells a bound of what has ended by now.
func (u *upstream) end(b *bound.Bound, now time.Time) {
	left := u.working[:0]
	for _, r := range u.working {
		switch {
		case r.ends.After(now):
			left = append(left, r)
		case r.accepted:
			u.made++
			u.under--
			b.Done(r.began, now)
		default:
			u.refused++
			b.Overloaded(r.began, now, u.says)
		}
	}
	u.working = left
}

// run asks an upstream for as much as a bound allows, for a time, and returns how many a second were made.
func (u *upstream) run(b *bound.Bound, d time.Duration) float64 {
	before, until := u.made, time.Now().Add(d)
	for now := time.Now(); now.Before(until); now = time.Now() {
		for b.Room(now) > 0 {
			b.Begin(now)
			u.ask(now)
		}
		time.Sleep(2 * time.Millisecond)
		u.end(b, time.Now())
	}
	return float64(u.made-before) / d.Seconds()
}

// The bound soon comes close to what an upstream gives, by whatever it counts, and seldom exceeds it.
func TestSettles(t *testing.T) {
	exactly := func(d time.Duration) func() time.Duration { return func() time.Duration { return d } }
	about := func(d time.Duration) func() time.Duration {
		dice := rand.New(rand.NewPCG(1, 2))
		return func() time.Duration { return d/2 + time.Duration(dice.Int64N(int64(d))) }
	}
	for name, test := range map[string]struct {
		upstream
		least float64 // a second
	}{
		"20 a second, 5 s":       {upstream{perSecond: 20, takes: exactly(5 * time.Second)}, 18},
		"20 a second, 1 s, says": {upstream{perSecond: 20, takes: exactly(time.Second), says: time.Second}, 18},
		"20 a second, 200 ms":    {upstream{perSecond: 20, takes: exactly(200 * time.Millisecond)}, 18},
		"20 a second, 100 ms":    {upstream{perSecond: 20, takes: exactly(100 * time.Millisecond)}, 18},
		"20 a second, about 2 s": {upstream{perSecond: 20, takes: about(2 * time.Second)}, 17},
		"20 a second, about 3 s, says": {upstream{perSecond: 20, takes: about(3 * time.Second), says: time.Second},
			17},
		"24 at once, about 10 s":         {upstream{atOnce: 24, takes: about(10 * time.Second)}, 2},
		"3 at once, about 10 s":          {upstream{atOnce: 3, takes: about(10 * time.Second)}, 0.2},
		"1 at once, 5 s":                 {upstream{atOnce: 1, takes: exactly(5 * time.Second)}, 0.15},
		"128 at once, which is the most": {upstream{atOnce: 128, takes: exactly(5 * time.Second)}, 25},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := bound.New(128)
				test.run(b, time.Minute)
				refused := test.refused
				if rate := test.run(b, 2*time.Minute); rate < test.least {
					t.Errorf("%.2f a second, and %.2f could be had", rate, test.least)
				}
				if refused = test.refused - refused; refused > 30 {
					t.Errorf("%d were refused after it had settled", refused)
				}
			})
		})
	}
}

// A bound falls to what the upstream takes, not below 1, and is all that it was a while after the last overload.
func TestFallsAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		b, began := bound.New(64), time.Now()
		for range 64 {
			b.Begin(began)
		}
		is.Equal(b.Room(began), 0)
		time.Sleep(time.Second)
		b.Overloaded(began, time.Now(), 0)
		is.Equal(b.Now(time.Now()), 58) // a tenth
		is.Equal(b.Room(time.Now()), 0)
		for range 23 {
			b.Overloaded(began, time.Now(), 0) // they were there before it fell
		}
		is.Equal(b.Now(time.Now()), 40) // which were taken in
		for range 40 {
			b.Overloaded(began, time.Now(), 0)
		}
		is.Equal(b.Now(time.Now()), 1)
		is.Equal(b.UnderWay(), 0)
		time.Sleep(time.Second)
		is.True(b.Room(time.Now()) >= 1)
		time.Sleep(2 * time.Minute)
		is.Equal(b.Now(time.Now()), 64)
		is.Equal(b.Room(time.Now()), 64)
		is.Equal(b.Opens(time.Now()), time.Duration(0))
	})
}

// Nothing begins before the upstream wants it, within reason.
func TestPause(t *testing.T) {
	for _, test := range []struct{ says, rests time.Duration }{{20 * time.Second, 20 * time.Second},
		{time.Hour, time.Minute}, {0, time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			b := bound.New(8)
			b.Begin(time.Now())
			b.Overloaded(time.Now(), time.Now(), test.says)
			is.Equal(b.Opens(time.Now()), test.rests)
			time.Sleep(test.rests - time.Nanosecond)
			is.Equal(b.Room(time.Now()), 0)
			time.Sleep(time.Nanosecond)
			is.True(b.Room(time.Now()) > 0)
		})
	}
}
