package ledger_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// wallClock is a clock that can be set.
type wallClock struct{ ahead time.Duration }

func (c *wallClock) now() time.Time { return time.Now().Add(c.ahead) }

func (f *fixture) inDoubt() bool {
	_, doubt := f.ClockInDoubt()
	return doubt
}

// A jump of more than a day is not believed: nothing lapses but by the time that has passed.
func TestClockInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.reopen(wall.now)
		f.grant(imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(72 * time.Hour)})
		time.Sleep(30 * time.Hour) // idle, which is no jump
		f.is.True(!f.inDoubt())
		wall.ahead = 24 * time.Hour
		f.is.True(!f.inDoubt())

		wall.ahead += 24*time.Hour + 1
		jump, doubt := f.ClockInDoubt()
		f.is.True(doubt)
		f.is.Equal(jump, 24*time.Hour+1)
		f.is.Equal(f.credits("alice"), imagegen.Credits(10)) // 54 hours have passed, as far as we know
		_, err := f.Lapse(t.Context())
		f.is.NoErr(err)
		f.charge("c", "alice", 1)
		f.settle("c", 0)
		f.sound()

		time.Sleep(6 * time.Hour)
		told := f.Now()
		wall.ahead = 23 * time.Hour // put right, and a bit too far
		f.is.Equal(f.Now(), told)
		wall.ahead = 24 * time.Hour // put right
		f.is.True(!f.inDoubt())
		f.is.Equal(f.credits("alice"), imagegen.Credits(10))
		time.Sleep(12 * time.Hour)
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
	})
}

func TestClockIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.grant(imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(48 * time.Hour)})
		f.is.NoErr(f.ConfirmClock(t.Context()))
		f.is.Equal(f.size("ledger.journal"), 1) // nothing was in doubt

		wall.ahead = 30 * 24 * time.Hour
		f.reopen(wall.now)
		f.is.True(f.inDoubt()) // against the last entry
		f.is.Equal(f.credits("alice"), imagegen.Credits(10))
		f.is.NoErr(f.ConfirmClock(t.Context()))
		f.is.True(!f.inDoubt())
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
		f.reopen(wall.now)
		f.is.True(!f.inDoubt()) // it was written down
		f.sound()
	})
}

// Time that was told once is never taken back, in the same process or in the next.
func TestClockNeverRunsBackwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.reopen(wall.now)
		f.grant(imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(time.Hour)})
		wall.ahead = time.Hour
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
		told := f.Now()
		_, err := f.Lapse(t.Context())
		f.is.NoErr(err)
		wall.ahead = -1000 * time.Hour
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
		f.is.Equal(f.Now(), told)
		f.reopen(wall.now)
		f.is.Equal(f.Now(), told)
		l := f.grant(imagegen.Grant{User: "alice", Credits: 1})
		f.is.Equal(l.Effective, told)

		time.Sleep(100 * time.Hour)
		wall.ahead = 0 // put right again: no jump, so much time has passed
		f.is.True(!f.inDoubt())
		f.is.Equal(f.Now(), wall.now().UTC())
		f.sound()
	})
}

// The time that a service was up counts, though nothing was entered.
func TestClockIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.grant(imagegen.Grant{User: "alice", Credits: 10})
		for range 5 {
			time.Sleep(23 * time.Hour)
			_, err := f.Lapse(t.Context())
			f.is.NoErr(err)
		}
		time.Sleep(23 * time.Hour)
		f.reopen(time.Now)
		f.is.True(!f.inDoubt())
		time.Sleep(2 * time.Hour)
		f.reopen(time.Now)
		f.is.True(f.inDoubt()) // too long a pause to tell from a jump
		f.sound()
	})
}

func TestNewLedgerHasNoDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{ahead: 1000 * time.Hour}
		f.reopen(wall.now)
		wall.ahead *= 2
		f.is.True(!f.inDoubt())
	})
}

// A confirmation that could not be written down is none.
func TestConfirmationFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		l, err := ledger.New(full{f.db}, wall.now)
		f.is.NoErr(err)
		l.Now()
		wall.ahead = 48 * time.Hour
		f.is.True(errors.Is(l.ConfirmClock(t.Context()), imagegen.ErrNotApplied))
		_, doubt := l.ClockInDoubt()
		f.is.True(doubt)
	})
}
