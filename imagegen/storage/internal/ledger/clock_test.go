package ledger_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
)

// wallClock is a clock that can be set.
type wallClock struct{ ahead time.Duration }

func (c *wallClock) now() time.Time { return time.Now().Add(c.ahead).UTC().Round(0) }

func (f *fixture) inDoubt() bool {
	_, doubt := f.ClockInDoubt()
	return doubt
}

// last is alice's last entry.
func (f *fixture) last() imagegen.Entry {
	f.Helper()
	entries, err := f.History(f.Context(), "alice", 0, 1)
	f.is.NoErr(err)
	f.is.Equal(len(entries), 1)
	return entries[0]
}

// A leap of the clock expires nothing: things end by the time that has passed. Entries carry the wall
// clock all the same.
func TestClockLeapsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.reopen(wall.now)
		f.grant(imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(20 * time.Hour)})
		wall.ahead = 25 * time.Hour
		leap, doubt := f.ClockInDoubt()
		f.is.True(doubt)
		f.is.Equal(leap, 25*time.Hour)
		f.is.Equal(f.credits("alice"), imagegen.Credits(10))
		f.charge("c", "alice", 1)
		f.is.Equal(f.last().Time, wall.now())
		f.settle("c", 0)
		f.reopen(wall.now)
		f.is.True(f.inDoubt()) // a restart does not end it
		_, err := f.Expire(t.Context())
		f.is.NoErr(err)
		f.is.Equal(f.credits("alice"), imagegen.Credits(10))

		time.Sleep(20 * time.Hour)
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
		f.sound()
	})
}

// Put right in time, a leap leaves nothing behind; once it dated an entry, it takes a correction.
func TestClockIsPutRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.reopen(wall.now)
		f.grant(imagegen.Grant{User: "alice", Credits: 10})
		wall.ahead = 25 * time.Hour
		f.is.True(f.inDoubt())
		wall.ahead = 0
		f.is.True(!f.inDoubt())

		wall.ahead = 25 * time.Hour
		f.charge("c", "alice", 1)
		dated := f.last().Time
		wall.ahead = 0
		f.is.True(f.inDoubt())
		f.is.Equal(f.Now(), wall.now()) // which is known all the same
		f.settle("c", 1)
		f.is.Equal(f.last().Time, dated) // an account's time does not fall
		f.grant(imagegen.Grant{User: "bob", Credits: 1})
		f.is.Equal(f.lots("bob")[0].Effective, wall.now())

		f.is.NoErr(f.ConfirmClock(t.Context()))
		f.is.True(!f.inDoubt())
		f.charge("d", "alice", 1)
		f.is.Equal(f.last().Time, wall.now()) // but where the clock was corrected
		f.sound()
	})
}

func TestClockIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.reopen(wall.now)
		f.grant(imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(20 * time.Hour)})
		f.is.NoErr(f.ConfirmClock(t.Context()))
		f.is.Equal(f.size("ledger.journal"), 1) // nothing was in doubt

		wall.ahead = 25 * time.Hour
		f.is.True(f.inDoubt())
		f.is.NoErr(f.ConfirmClock(t.Context()))
		f.is.True(!f.inDoubt())
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
		f.reopen(wall.now)
		f.is.True(!f.inDoubt()) // it was written down
		f.sound()
	})
}

// A clock that is set back is in doubt, and time goes on; what had expired stays expired, also over the
// correction.
func TestClockIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.reopen(wall.now)
		f.grant(imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(time.Hour)})
		f.grant(imagegen.Grant{User: "alice", Credits: 5, Expires: time.Now().Add(10 * time.Hour)})
		wall.ahead = -25 * time.Hour
		f.is.True(f.inDoubt())
		f.is.Equal(f.credits("alice"), imagegen.Credits(15))
		time.Sleep(time.Hour)
		f.is.Equal(f.credits("alice"), imagegen.Credits(5))
		_, err := f.Expire(t.Context())
		f.is.NoErr(err)
		f.grant(imagegen.Grant{User: "alice", Credits: 2, Expires: time.Now().Add(time.Hour)})
		f.reopen(wall.now)
		f.is.Equal(f.credits("alice"), imagegen.Credits(7))
		time.Sleep(time.Hour)
		f.is.Equal(f.credits("alice"), imagegen.Credits(5)) // though nothing has written it off

		f.is.NoErr(f.ConfirmClock(t.Context()))
		f.is.True(!f.inDoubt())
		f.is.Equal(f.Now(), wall.now())
		f.is.Equal(f.credits("alice"), imagegen.Credits(5))
		f.charge("c", "alice", 1)
		f.is.Equal(f.last().Time, wall.now())
		f.sound()
	})
}

// A first start with a clock that is years fast can be repaired.
func TestFirstStartYearsFast(t *testing.T) {
	const years = 5 * 365 * 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{ahead: years}
		f.reopen(wall.now)
		f.grant(imagegen.Grant{User: "alice", Credits: 10})
		f.is.True(!f.inDoubt())
		for _, restart := range []bool{false, true} {
			wall.ahead = 0
			if restart {
				f.reopen(wall.now)
			}
			leap, doubt := f.ClockInDoubt()
			f.is.True(doubt)
			f.is.Equal(leap, -years)
			f.is.Equal(f.Now(), wall.now().Add(years))
		}
		f.is.NoErr(f.ConfirmClock(t.Context()))
		f.is.Equal(f.Now(), wall.now())
		f.charge("c", "alice", 1)
		f.is.Equal(f.last().Time, wall.now())
		f.reopen(wall.now)
		f.is.True(!f.inDoubt())
		f.charge("d", "alice", 1)
		f.is.Equal(f.last().Time, wall.now())
		f.sound()
	})
}

// A ledger that nobody had open is not in doubt, however long.
func TestGapIsNoDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.grant(imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(50 * time.Hour)})
		time.Sleep(60 * time.Hour)
		f.reopen(time.Now)
		f.is.Equal(f.Gap(), 60*time.Hour)
		f.is.True(!f.inDoubt())
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
		f.grant(imagegen.Grant{User: "alice", Credits: 1})
		f.is.Equal(f.last().Time, time.Now().UTC().Round(0))
		f.sound()
	})
}

// The time that a ledger was seen running counts, though nothing was entered.
func TestClockIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.reopen(wall.now)
		f.grant(imagegen.Grant{User: "alice", Credits: 10})
		time.Sleep(23 * time.Hour)
		_, err := f.Expire(t.Context())
		f.is.NoErr(err)
		wall.ahead = -time.Hour
		f.reopen(wall.now)
		f.is.True(f.inDoubt())

		wall.ahead = 0
		f.is.True(!f.inDoubt())
		wall.ahead = 30 * time.Hour // a doubt is noted, though nothing is entered in it
		_, err = f.Expire(t.Context())
		f.is.NoErr(err)
		f.reopen(wall.now)
		f.is.True(f.inDoubt())
		wall.ahead = 0
		_, err = f.Expire(t.Context())
		f.is.NoErr(err)
		time.Sleep(30 * time.Hour)
		f.reopen(wall.now)
		f.is.True(!f.inDoubt()) // and so is its end
		f.sound()
	})
}

// A confirmation that could not be written down is none.
func TestConfirmationFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		l, err := ledgerkv.New(full{f.db}, wall.now)
		f.is.NoErr(err)
		l.Now()
		wall.ahead = 48 * time.Hour
		f.is.True(errors.Is(l.ConfirmClock(t.Context()), imagegen.ErrNotApplied))
		_, doubt := l.ClockInDoubt()
		f.is.True(doubt)
	})
}
