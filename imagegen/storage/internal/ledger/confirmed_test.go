package ledger_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// The audit trail names the operator who confirmed the clock. A confirmation of a clock without a doubt leaves no row.
func TestConfirmationInTheTrail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.reopen(wall.now)
		f.grant(imagegen.Grant{User: "alice", Credits: 10})
		ctx := account.WithActor(t.Context(), account.Actor{Via: "test", Name: "olivia"})
		f.is.NoErr(f.ConfirmClock(ctx))
		wall.ahead = 48 * time.Hour
		f.is.NoErr(f.ConfirmClock(ctx))
		p, err := trail.New(f.db, wall.now).Trail(t.Context(), account.TrailQuery{Act: "clock", Limit: 10})
		f.is.NoErr(err)
		f.is.Equal(len(p.Rows), 1)
		f.is.Equal(p.Rows[0].Act, account.ActClockConfirm)
		f.is.Equal(p.Rows[0].Actor.Name, "olivia")
	})
}

// overtaken is a database in which something happens between the time that an operation has read and its
// transaction.
type overtaken struct {
	kv.DB
	by func()
}

func (d *overtaken) Update(ctx context.Context, f func(kv.Tx) error) error {
	if by := d.by; by != nil {
		d.by = nil
		by()
	}
	return d.DB.Update(ctx, f)
}

// Of two operators who confirm a leap at the same moment, one does, and what the other has read of the clock since is
// not written down.
func TestClockIsConfirmedTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		db := &overtaken{DB: f.db}
		l, err := ledgerkv.New(db, wall.now)
		f.is.NoErr(err)
		f.Ledger = l
		f.grant(imagegen.Grant{User: "alice", Credits: 10})
		wall.ahead = 48 * time.Hour
		f.is.True(f.inDoubt())
		db.by = func() { f.is.NoErr(f.ConfirmClock(t.Context())) }
		f.is.NoErr(f.ConfirmClock(t.Context()))
		f.is.True(!f.inDoubt())
		f.is.Equal(f.size("ledger.journal"), 2) // the grant and one correction
		p, err := trail.New(f.db, wall.now).Trail(t.Context(), account.TrailQuery{Act: "clock", Limit: 10})
		f.is.NoErr(err)
		f.is.Equal(len(p.Rows), 1)
		f.reopen(wall.now)
		f.is.True(!f.inDoubt())
		f.is.Equal(f.Now(), wall.now())
		f.sound()
	})
}

// However much has expired when a clock is turned back, it stays so.
func TestMuchExpiresBeforeAConfirmation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.reopen(wall.now)
		for range 1001 {
			f.grant(imagegen.Grant{User: "alice", Credits: 1, Expires: time.Now().Add(time.Hour)})
		}
		wall.ahead = -25 * time.Hour
		time.Sleep(time.Hour)
		f.is.True(f.inDoubt())
		f.is.NoErr(f.ConfirmClock(t.Context()))
		f.is.Equal(f.Now(), wall.now()) // when none of them had expired yet
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
		f.is.Equal(f.size("ledger.accounts.due"), 0)
		f.sound()
	})
}

// In doubt nothing is entered that could not be dated: where what was written down of the clock is damaged,
// an operation is refused and writes nothing.
func TestDoubtThatCannotBeWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		f.reopen(wall.now)
		f.grant(imagegen.Grant{User: "alice", Credits: 10})
		wall.ahead = 48 * time.Hour
		_, err := f.Expire(t.Context())
		f.is.NoErr(err)
		f.is.NoErr(f.db.Update(t.Context(), func(tx kv.Tx) error {
			key, mark := pair(tx, "ledger.clock", 0)
			tx.Put("ledger.clock", key, mark[:1])
			return nil
		}))
		before := f.content()
		for name, do := range map[string]func() error{
			"charge": func() error {
				return f.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 1})
			},
			"grant": func() error {
				_, err := f.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 1})
				return err
			},
		} {
			if err := do(); err == nil {
				t.Error(name, "was carried out")
			}
			f.is.Equal(f.content(), before)
		}
	})
}

// fullWith is a database that holds one operation back and commits it together with a later one, for which there is no
// room.
type fullWith struct {
	kv.DB
	holds  bool // the next operation is held back
	before int  // how many operations still succeed after it
	held   func(kv.Tx) error
	failed chan error
}

func (d *fullWith) Update(ctx context.Context, f func(kv.Tx) error) error {
	switch {
	case d.holds:
		d.holds, d.held = false, f
		return <-d.failed
	case d.held == nil || d.before > 0:
		d.before--
		return d.DB.Update(ctx, f)
	}
	held := d.held
	d.held = nil
	err := d.DB.Update(ctx, func(tx kv.Tx) error { return cmp.Or(f(tx), held(tx), imagegen.ErrNotApplied) })
	d.failed <- err
	return err
}

// A correction that was not committed has no effect, not even on operations of the same commit.
func TestCorrectionThatIsNotCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, wall := open(t), &wallClock{}
		db := &fullWith{DB: f.db, failed: make(chan error, 1)}
		l, err := ledgerkv.New(db, wall.now)
		f.is.NoErr(err)
		f.Ledger = l
		f.grant(imagegen.Grant{User: "alice", Credits: 10})
		wall.ahead = 48 * time.Hour
		f.is.True(f.inDoubt())
		db.holds, db.before = true, 1 // what has expired is written off first
		go func() { _, _ = l.Grant(t.Context(), imagegen.Grant{User: "bob", Credits: 1}) }()
		synctest.Wait()
		f.is.True(errors.Is(l.ConfirmClock(t.Context()), imagegen.ErrNotApplied))
		f.is.True(f.inDoubt())
		f.is.NoErr(l.ConfirmClock(t.Context()))
		f.is.True(!f.inDoubt())
		f.is.Equal(f.size("ledger.journal"), 2) // alice's grant and the correction
	})
}
