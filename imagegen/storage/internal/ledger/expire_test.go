package ledger_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		at := time.Now().Add(time.Hour).UTC()
		f.grant(imagegen.Grant{User: "alice", Credits: 10, Expires: at})
		f.grant(imagegen.Grant{User: "alice", Credits: 5, Expires: at})
		f.grant(imagegen.Grant{User: "alice", Credits: 7})
		b, err := f.Balance(t.Context(), "alice")
		f.is.NoErr(err)
		f.is.Equal(cmp.Diff(imagegen.Balance{Credits: 22, NextExpiration: &imagegen.Expiration{Credits: 15, At: at}},
			b), "")

		time.Sleep(time.Hour - time.Nanosecond)
		f.is.Equal(f.credits("alice"), imagegen.Credits(22))
		time.Sleep(time.Nanosecond)
		f.is.Equal(f.credits("alice"), imagegen.Credits(7)) // gone at once, though nothing has written it off
		f.is.Equal(len(f.lots("alice")), 1)
		f.refusesToSpend("alice", 8)
		f.charge("c", "alice", 7)
		f.sound()
	})
}

// refusesToSpend checks that a refusal writes nothing, not even what has expired.
func (f *fixture) refusesToSpend(u imagegen.UserID, c imagegen.Credits) {
	f.Helper()
	before := f.size("ledger.journal")
	f.is.True(errors.Is(f.Charge(f.Context(), imagegen.Charge{ID: "refused", User: u, Credits: c}),
		imagegen.ErrInsufficientCredits))
	_, err := f.Revoke(f.Context(), imagegen.Revocation{User: u, Credits: c})
	f.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	_, err = f.Grant(f.Context(), imagegen.Grant{User: u, Credits: imagegen.MaxCredits})
	f.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
	f.is.Equal(f.size("ledger.journal"), before)
}

// Credits that come back after their lot has expired can be spent until a day after it expired, one new lot for
// each old one.
func TestRefundAfterExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		now := time.Now().UTC()
		f.grant(imagegen.Grant{User: "alice", Credits: 3, Priority: 7, Promo: true, Expires: now.Add(time.Hour)})
		f.grant(imagegen.Grant{User: "alice", Credits: 3, Priority: 8, Expires: now.Add(2 * time.Hour)})
		f.grant(imagegen.Grant{User: "alice", Credits: 3, Priority: 9, Expires: now.Add(4 * time.Hour)})
		f.charge("c", "alice", 8)
		time.Sleep(3 * time.Hour)
		f.is.Equal(f.credits("alice"), imagegen.Credits(1))
		f.settle("c", 2)
		later := time.Now().UTC()
		lot := func(l imagegen.Lot) imagegen.Lot {
			l.User, l.Granted, l.Effective, l.Expires = "alice", l.Remaining, later, l.Expires.Add(24*time.Hour)
			return l
		}
		f.is.Equal(cmp.Diff([]imagegen.Lot{
			lot(imagegen.Lot{ID: ledger.LotID("alice", 4), Remaining: 1, Priority: 7, Promo: true,
				Expires: now.Add(time.Hour)}),
			lot(imagegen.Lot{ID: ledger.LotID("alice", 5), Remaining: 3, Priority: 8, Expires: now.Add(2 * time.Hour)}),
			{ID: ledger.LotID("alice", 3), User: "alice", Granted: 3, Remaining: 3, Priority: 9, Effective: now,
				Expires: now.Add(4 * time.Hour)},
		}, f.lots("alice")), "")
		f.sound()
		time.Sleep(22*time.Hour - time.Nanosecond)
		f.is.Equal(f.credits("alice"), imagegen.Credits(4))
		time.Sleep(time.Nanosecond)
		f.is.Equal(f.credits("alice"), imagegen.Credits(3))
		time.Sleep(time.Hour)
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
	})
}

// However often work fails after its credits expired, they do not outlive their first expiry by more
// than a day.
func TestRefundsDoNotRenewThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		now := time.Now().UTC()
		f.grant(imagegen.Grant{User: "alice", Credits: 10, Promo: true, Expires: now.Add(time.Hour)})
		f.charge("before", "alice", 10)
		time.Sleep(2 * time.Hour)
		f.settle("before", 0)
		f.charge("again", "alice", 4)
		f.charge("still", "alice", 6)
		time.Sleep(22 * time.Hour) // a day after the grant, an hour before the end
		f.settle("again", 0)
		b, err := f.Balance(t.Context(), "alice")
		f.is.NoErr(err)
		f.is.Equal(cmp.Diff(&imagegen.Expiration{Credits: 4, At: now.Add(25 * time.Hour)}, b.NextExpiration), "")
		time.Sleep(time.Hour)
		f.settle("still", 1)
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
		f.is.True(errors.Is(f.Charge(t.Context(), imagegen.Charge{ID: "more", User: "alice", Credits: 1}),
			imagegen.ErrInsufficientCredits))
		_, err = f.Expire(t.Context())
		f.is.NoErr(err)
		f.is.Equal(len(f.lots("alice")), 0)
		f.sound()
	})
}

// The background loop writes off what has expired, a bounded number of lots at a time.
func TestExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		for i := range 1203 {
			u := imagegen.UserID(fmt.Sprint("user ", i%7))
			f.grant(imagegen.Grant{User: u, Credits: 1, Expires: time.Now().Add(time.Hour)})
		}
		f.grant(imagegen.Grant{User: "user 1", Credits: 1, Expires: time.Now().Add(2 * time.Hour)})
		more, err := f.Expire(t.Context())
		f.is.NoErr(err)
		f.is.True(!more) // nothing is due
		time.Sleep(time.Hour)
		for _, left := range []int{703, 203, 0} {
			more, err := f.Expire(t.Context())
			f.is.NoErr(err)
			f.is.Equal(more, left > 0)
			f.is.Equal(f.size("ledger.lots.expiring"), left+1)
			f.sound()
		}
		entries := f.size("ledger.journal")
		_, err = f.Expire(t.Context())
		f.is.NoErr(err)
		f.is.Equal(f.size("ledger.journal"), entries)
		f.is.Equal(f.credits("user 1"), imagegen.Credits(1))
	})
}

// However many users have lost something, all of it is written off in the end.
func TestExpireOfManyUsers(t *testing.T) {
	for name, home := range stores {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openAt(t, home())
				for i := range 700 {
					f.grant(imagegen.Grant{User: imagegen.UserID(fmt.Sprint("user ", i)), Credits: 1,
						Expires: time.Now().Add(time.Hour)})
				}
				time.Sleep(time.Hour)
				for _, want := range []bool{true, false, false} {
					more, err := f.Expire(t.Context())
					f.is.NoErr(err)
					f.is.Equal(more, want)
				}
				for i := range 700 {
					entries, err := f.History(t.Context(), imagegen.UserID(fmt.Sprint("user ", i)), 0, 1)
					f.is.NoErr(err)
					f.is.Equal(entries[0].Kind, imagegen.EntryExpire)
				}
				f.sound()
			})
		})
	}
}

// However many lots have expired, the next operation writes them all off before itself.
func TestOperationAfterManyExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		for i := range 1203 {
			f.grant(imagegen.Grant{User: "alice", Credits: 1, Expires: time.Now().Add(time.Hour + time.Duration(i%5))})
		}
		f.grant(imagegen.Grant{User: "alice", Credits: 1})
		time.Sleep(2 * time.Hour)
		f.charge("c", "alice", 1)
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
		entries, err := f.History(t.Context(), "alice", 0, 4)
		f.is.NoErr(err)
		var credits []imagegen.Credits
		for _, e := range entries {
			credits = append(credits, e.Credits)
		}
		f.is.Equal(credits, []imagegen.Credits{-1, -203, -500, -500})
		f.sound()
	})
}

// A grant that is repeated returns the lot as it stands, though nothing has written off what expired.
func TestGrantAgainAfterExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		g := imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(time.Hour).UTC(), Ref: "r"}
		f.grant(g)
		f.charge("c", "alice", 4)
		time.Sleep(time.Hour)
		again := f.grant(g)
		f.is.Equal(again.Remaining, imagegen.Credits(0))
		f.is.Equal(again.Expired, imagegen.Credits(6))
		f.is.Equal(again.Held, imagegen.Credits(4))
		f.sound()
	})
}
