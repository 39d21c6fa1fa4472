package storagetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/account"
)

// The secret is the same for all callers, also for several first ones at once.
func testSecret(l *logins) {
	SharedSecret(l.t, l, l)
}

// SharedSecret tests that stores on the same data have the same secret.
func SharedSecret(t *testing.T, stores ...account.LoginStore) {
	is := is.New(t)
	var all [10][32]byte
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() {
			var err error
			if all[i], err = stores[i%len(stores)].Secret(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	is.True(all[0] != [32]byte{})
	for _, other := range all {
		is.Equal(other, all[0])
	}
}

// marked returns until when keys are kept, and changes nothing.
func (l *logins) marked(now time.Time, keys ...[32]byte) (until []time.Time) {
	l.t.Helper()
	l.is.NoErr(l.Mark(l.t.Context(), now, keys, func(t []time.Time) bool { until = slices.Clone(t); return false }))
	return until
}

// mark keeps keys until these times.
func (l *logins) mark(now time.Time, keys [][32]byte, until ...time.Time) {
	l.t.Helper()
	l.is.NoErr(l.Mark(l.t.Context(), now, keys, func(t []time.Time) bool { copy(t, until); return true }))
}

func testMarks(l *logins) {
	a, b, c := [32]byte{1}, [32]byte{2}, [32]byte{3}
	soon, late := epoch.Add(time.Minute), epoch.Add(time.Hour)
	l.is.Equal(l.marked(epoch, a, b), []time.Time{{}, {}})
	l.mark(epoch, [][32]byte{b, a}, late, soon)
	l.is.Equal(l.marked(epoch, a, b, c), []time.Time{soon, late, {}})
	// A change that returns false writes nothing, whatever it does with the times.
	l.is.NoErr(l.Mark(l.t.Context(), epoch, [][32]byte{a}, func(t []time.Time) bool { t[0] = late; return false }))
	l.mark(epoch, [][32]byte{b, c}, time.Time{}, soon)
	l.is.Equal(l.marked(epoch, a, b, c), []time.Time{soon, {}, soon})
	l.mark(epoch, [][32]byte{a, c}, epoch, epoch) // which has passed
	l.is.Equal(l.marked(epoch, a, b, c), []time.Time{{}, {}, {}})
}

// A key is kept until its time and no longer; others stay, and one whose time has passed can be kept again.
func testMarksPass(l *logins) {
	var keys [][32]byte
	var until []time.Time
	for n := range byte(50) {
		keys, until = append(keys, [32]byte{1, n}), append(until, epoch.Add(time.Duration(n+1)*time.Second))
	}
	l.mark(epoch, keys, until...)
	for n := range 50 {
		now := until[n].Add(-1)
		l.is.Equal(l.marked(now, keys[n])[0], until[n])
		l.is.Equal(l.marked(until[n], keys[n])[0], time.Time{})
		l.mark(until[n], [][32]byte{{2}}, epoch.Add(time.Hour)) // a write, which may forget
		if n < 49 {
			l.is.Equal(l.marked(until[n], keys[49])[0], until[49])
		}
	}
	l.mark(epoch.Add(time.Minute), keys[:1], epoch.Add(time.Hour))
	l.is.Equal(l.marked(epoch.Add(time.Minute), keys[0], [32]byte{2}), []time.Time{epoch.Add(time.Hour),
		epoch.Add(time.Hour)})
}

func testMarkRace(l *logins) { MarksInTurn(l.t, l, l) }

// MarksInTurn tests that of changes of the same keys, through stores on the same data, each sees what the others left.
func MarksInTurn(t *testing.T, stores ...account.LoginStore) {
	const changes = 30
	is, a, b := is.New(t), [32]byte{9, 1}, [32]byte{9, 2}
	var all sync.WaitGroup
	for n := range changes {
		keys := [][32]byte{a, b}
		if n%2 == 1 {
			slices.Reverse(keys)
		}
		all.Go(func() {
			err := stores[n%len(stores)].Mark(t.Context(), epoch, keys, func(until []time.Time) bool {
				for i, u := range until {
					if u.IsZero() {
						u = epoch
					}
					until[i] = u.Add(time.Second)
				}
				return true
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var got []time.Time
	is.NoErr(stores[0].Mark(t.Context(), epoch, [][32]byte{a, b}, func(until []time.Time) bool {
		got = slices.Clone(until)
		return false
	}))
	is.Equal(got, []time.Time{epoch.Add(changes * time.Second), epoch.Add(changes * time.Second)})
}
