package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/memkv"
)

type fixture struct {
	*testing.T
	is *is.I
	db *memkv.DB
	*ledger.Ledger
}

func open(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, is: is.New(t), db: memkv.New()}
	f.reopen()
	return f
}

func (f *fixture) reopen() {
	f.Helper()
	var err error
	f.Ledger, err = ledger.New(f.db, nil)
	f.is.NoErr(err)
}

func (f *fixture) violations() (found []imagegen.Violation) {
	f.Helper()
	err := f.db.View(f.Context(), func(tx kv.Tx) error {
		_, err := ledger.Check(f.Context(), tx, memkv.New(), func(v imagegen.Violation) { found = append(found, v) })
		return err
	})
	f.is.NoErr(err)
	return found
}

func (f *fixture) sound() {
	f.Helper()
	for _, v := range f.violations() {
		f.Errorf("%s: %s: %s", v.Rule, v.Subject, v.Detail)
	}
}

func (f *fixture) credits(u imagegen.UserID) imagegen.Credits {
	f.Helper()
	b, err := f.Balance(f.Context(), u)
	f.is.NoErr(err)
	return b.Credits
}

func (f *fixture) grant(g imagegen.Grant) imagegen.Lot {
	f.Helper()
	l, err := f.Grant(f.Context(), g)
	f.is.NoErr(err)
	return l
}

func charge(id string, u imagegen.UserID, c imagegen.Credits) imagegen.Charge {
	return imagegen.Charge{ID: imagegen.ChargeID(id), User: u, Credits: c}
}

// model is the plainest ledger: it knows balances and charges, not lots.
type model struct {
	balance map[imagegen.UserID]imagegen.Credits
	charges map[imagegen.ChargeID]*modelCharge
}

type modelCharge struct {
	imagegen.Charge
	settled bool
	used    imagegen.Credits
}

func (m *model) charge(c imagegen.Charge) error {
	switch former := m.charges[c.ID]; {
	case former != nil && former.settled:
		return imagegen.ErrChargeClosed
	case former != nil && former.Charge != c:
		return imagegen.ErrChargeConflict
	case former != nil:
		return nil
	case m.balance[c.User] < c.Credits:
		return imagegen.ErrInsufficientCredits
	}
	m.balance[c.User] -= c.Credits
	m.charges[c.ID] = &modelCharge{Charge: c}
	return nil
}

func (m *model) settle(id imagegen.ChargeID, used imagegen.Credits) error {
	c := m.charges[id]
	switch {
	case c == nil && used == 0:
		m.charges[id] = &modelCharge{settled: true}
		return nil
	case c == nil:
		return imagegen.ErrNotFound
	case c.settled && c.used == used:
		return nil
	case c.settled || used < 0 || used > c.Credits:
		return imagegen.ErrChargeConflict
	}
	c.settled, c.used = true, used
	m.balance[c.User] += c.Credits - used
	return nil
}

// Random operations give what the plain model gives, whatever the lots, also after reopening.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			f := open(t)
			r := rand.New(rand.NewPCG(seed, 1))
			m := &model{map[imagegen.UserID]imagegen.Credits{}, map[imagegen.ChargeID]*modelCharge{}}
			users := []imagegen.UserID{"alice", "bob", "carol"}
			for step := range 300 {
				u := users[r.IntN(len(users))]
				id := imagegen.ChargeID(fmt.Sprint("c", r.IntN(60)))
				switch r.IntN(8) {
				case 0, 1:
					g := imagegen.Grant{User: u, Credits: imagegen.Credits(1 + r.IntN(40)), Promo: r.IntN(2) == 0, Priority: r.IntN(3) * 50}
					if r.IntN(2) == 0 {
						g.Expires = time.Now().Add(time.Hour * time.Duration(1+r.IntN(3)))
					}
					f.grant(g)
					m.balance[u] += g.Credits
				case 2, 3, 4:
					c := imagegen.Charge{ID: id, User: u, Credits: imagegen.Credits(1 + r.IntN(30))}
					f.same(step, f.Charge(t.Context(), c), m.charge(c))
				case 5, 6:
					used := imagegen.Credits(r.IntN(32) - 1)
					f.same(step, f.Settle(t.Context(), id, used), m.settle(id, used))
				case 7:
					f.reopen()
				}
				for _, u := range users {
					f.is.Equal(f.credits(u), m.balance[u])
				}
			}
			f.sound()
		})
	}
}

func (f *fixture) same(step int, got, want error) {
	f.Helper()
	if !errors.Is(got, want) {
		f.Fatalf("step %d: got %v, want %v", step, got, want)
	}
}

// With nothing in between, charging n and settling k is charging k and settling k.
func TestChargeAndSettleLaw(t *testing.T) {
	for n := imagegen.Credits(1); n <= 30; n += 7 {
		for k := imagegen.Credits(0); k <= n; k++ {
			f, g := lotsOfAllKinds(t), lotsOfAllKinds(t)
			f.is.NoErr(f.Charge(t.Context(), charge("c", "alice", n)))
			f.is.NoErr(f.Settle(t.Context(), "c", k))
			if k > 0 {
				f.is.NoErr(g.Charge(t.Context(), charge("c", "alice", k)))
				f.is.NoErr(g.Settle(t.Context(), "c", k))
			}
			a, err := f.Lots(t.Context(), "alice")
			f.is.NoErr(err)
			b, err := g.Lots(t.Context(), "alice")
			f.is.NoErr(err)
			ignoreTime := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Effective" || p.Last().String() == ".Expires" }, cmp.Ignore())
			f.is.Equal(cmp.Diff(a, b, ignoreTime), "")
			f.sound()
		}
	}
}

func lotsOfAllKinds(t *testing.T) *fixture {
	f := open(t)
	soon := time.Now().Add(time.Hour)
	for _, g := range []imagegen.Grant{{Credits: 5}, {Credits: 5, Promo: true}, {Credits: 5, Expires: soon}, {Credits: 5, Priority: 10},
		{Credits: 5, Expires: soon, Promo: true}, {Credits: 5}} {
		g.User = "alice"
		f.grant(g)
	}
	return f
}

// Credits burn in the documented order, and come back in the reverse of it.
func TestBurningOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		now := time.Now()
		names := []string{"priority 10", "soon", "later promo", "later", "never promo", "never old", "never new"}
		grants := map[string]imagegen.Grant{
			"never old": {}, "never new": {}, "never promo": {Promo: true}, "later": {Expires: now.Add(48 * time.Hour)},
			"later promo": {Expires: now.Add(48 * time.Hour), Promo: true}, "soon": {Expires: now.Add(time.Hour)}, "priority 10": {Priority: 10},
		}
		for _, name := range []string{"never old", "later", "never promo", "priority 10", "soon", "later promo", "never new"} {
			g := grants[name]
			g.User, g.Credits, g.Ref = "alice", 1, name
			f.grant(g)
			time.Sleep(time.Second)
		}
		lots, err := f.Lots(t.Context(), "alice")
		f.is.NoErr(err)
		var order []string
		for _, l := range lots {
			order = append(order, l.Ref)
		}
		f.is.Equal(cmp.Diff(names, order), "")
		f.is.NoErr(f.Charge(t.Context(), charge("c", "alice", 5)))
		f.is.NoErr(f.Settle(t.Context(), "c", 2))
		lots, err = f.Lots(t.Context(), "alice")
		f.is.NoErr(err)
		f.is.Equal(len(lots), 5)
		f.is.Equal(lots[0].Ref, "later promo") // the first two are spent
		f.sound()
	})
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		at := time.Now().Add(time.Hour).UTC()
		f.grant(imagegen.Grant{User: "alice", Credits: 10, Expires: at})
		f.grant(imagegen.Grant{User: "alice", Credits: 5, Expires: at})
		f.grant(imagegen.Grant{User: "alice", Credits: 7})
		b, err := f.Balance(t.Context(), "alice")
		f.is.NoErr(err)
		f.is.Equal(cmp.Diff(imagegen.Balance{Credits: 22, NextExpiration: &imagegen.Expiration{Credits: 15, At: at}}, b), "")

		f.is.NoErr(f.Charge(t.Context(), charge("held", "alice", 4)))
		time.Sleep(time.Hour)
		f.is.Equal(f.credits("alice"), imagegen.Credits(7)) // gone at once, though nothing has written it off
		f.is.True(errors.Is(f.Charge(t.Context(), charge("c", "alice", 8)), imagegen.ErrInsufficientCredits))
		f.sound()

		f.is.NoErr(f.Settle(t.Context(), "held", 1)) // comes back after its lot has lapsed
		b, err = f.Balance(t.Context(), "alice")
		f.is.NoErr(err)
		f.is.Equal(b.Credits, imagegen.Credits(10))
		f.is.Equal(b.NextExpiration.Credits, imagegen.Credits(3))
		f.is.Equal(b.NextExpiration.At, at.Add(24*time.Hour)) // and lives a day
		f.sound()

		time.Sleep(24 * time.Hour)
		f.is.Equal(f.credits("alice"), imagegen.Credits(7))
		for more := true; more; {
			more, err = f.Lapse(t.Context())
			f.is.NoErr(err)
		}
		lots, err := f.Lots(t.Context(), "alice")
		f.is.NoErr(err)
		f.is.Equal(len(lots), 1)
		f.sound()
	})
}

func TestLapseOfManyLots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		for range 1203 {
			f.grant(imagegen.Grant{User: "alice", Credits: 1, Expires: time.Now().Add(time.Hour)})
		}
		f.grant(imagegen.Grant{User: "alice", Credits: 1})
		time.Sleep(time.Hour)
		f.is.NoErr(f.Charge(t.Context(), charge("c", "alice", 1)))
		f.is.Equal(f.credits("alice"), imagegen.Credits(0))
		f.sound()
	})
}

func TestGrantAndRevokeByReference(t *testing.T) {
	f := open(t)
	first := f.grant(imagegen.Grant{User: "alice", Credits: 10, Ref: "invoice 7", Expires: time.Now().Add(time.Hour)})
	again := f.grant(imagegen.Grant{User: "alice", Credits: 10, Ref: "invoice 7", Expires: time.Now().Add(2 * time.Hour)})
	f.is.Equal(cmp.Diff(first, again), "")
	f.is.Equal(f.credits("alice"), imagegen.Credits(10))
	for _, g := range []imagegen.Grant{{User: "alice", Credits: 11}, {User: "bob", Credits: 10}} {
		g.Ref = "invoice 7"
		_, err := f.Grant(t.Context(), g)
		f.is.True(errors.Is(err, imagegen.ErrGrantConflict))
	}
	_, err := f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 10, Ref: "invoice 7"})
	f.is.True(errors.Is(err, imagegen.ErrGrantConflict)) // the reference is a grant's
	_, err = f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 11})
	f.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	for range 2 {
		e, err := f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 4, Ref: "mistake"})
		f.is.NoErr(err)
		f.is.Equal(e.Credits, imagegen.Credits(-4))
	}
	f.is.Equal(f.credits("alice"), imagegen.Credits(6))
	_, err = f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 1, Lot: "lot_99_0"})
	f.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	_, err = f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 6, Lot: first.ID})
	f.is.NoErr(err)
	f.sound()
}

func TestGrantLimits(t *testing.T) {
	f := open(t)
	for _, g := range []imagegen.Grant{
		{User: "alice", Credits: 0}, {User: "alice", Credits: -1}, {User: "alice", Credits: imagegen.MaxCredits + 1}, {User: "", Credits: 1},
		{User: "a\x00b", Credits: 1}, {User: "alice", Credits: 1, Priority: 101}, {User: "alice", Credits: 1, Priority: -1},
		{User: "alice", Credits: 1, Expires: time.Now().Add(-time.Second)},
	} {
		_, err := f.Grant(t.Context(), g)
		f.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
	}
	f.grant(imagegen.Grant{User: "alice", Credits: imagegen.MaxCredits})
	_, err := f.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 1})
	f.is.True(errors.Is(err, imagegen.ErrInvalidRequest)) // the account is full
	f.is.NoErr(f.Charge(t.Context(), charge("c", "alice", imagegen.MaxCredits)))
	_, err = f.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 1})
	f.is.True(errors.Is(err, imagegen.ErrInvalidRequest)) // what is held may come back
	f.sound()
}

func TestHistory(t *testing.T) {
	f := open(t)
	f.grant(imagegen.Grant{User: "alice", Credits: 10, Ref: "r"})
	f.grant(imagegen.Grant{User: "bob", Credits: 3})
	f.is.NoErr(f.Charge(t.Context(), charge("c", "alice", 6)))
	f.is.NoErr(f.Settle(t.Context(), "c", 2))
	all, err := f.History(t.Context(), "alice", 0, 10)
	f.is.NoErr(err)
	type row struct {
		Kind                   imagegen.EntryKind
		Credits, Used, Balance imagegen.Credits
	}
	var rows []row
	for _, e := range all {
		rows = append(rows, row{e.Kind, e.Credits, e.Used, e.Balance})
	}
	f.is.Equal(cmp.Diff([]row{{"settle", 4, 2, 8}, {"charge", -6, 0, 4}, {"grant", 10, 0, 10}}, rows), "")
	older, err := f.History(t.Context(), "alice", all[0].Seq, 1)
	f.is.NoErr(err)
	f.is.Equal(cmp.Diff(all[1:2], older), "")
}

// A jump of more than a day is not believed until it is confirmed: nothing lapses meanwhile.
func TestClockInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		var ahead time.Duration
		wall := func() time.Time { return time.Now().Add(ahead) }
		reopen := func() {
			var err error
			f.Ledger, err = ledger.New(f.db, wall)
			f.is.NoErr(err)
		}
		doubt := func() bool { _, d := f.ClockInDoubt(); return d }
		reopen()
		f.grant(imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(48 * time.Hour)})
		time.Sleep(30 * time.Hour) // idle, not a jump
		f.is.True(!doubt())
		ahead = 23 * time.Hour
		f.is.True(!doubt())
		ahead = 30*24*time.Hour + 23*time.Hour
		f.is.True(doubt())
		f.is.Equal(f.credits("alice"), imagegen.Credits(0)) // 53 hours have passed, as far as we know
		ahead = 0
		f.is.True(!doubt()) // the clock was put right

		f.grant(imagegen.Grant{User: "bob", Credits: 10, Expires: time.Now().Add(48 * time.Hour)})
		ahead = 30 * 24 * time.Hour
		reopen()
		f.is.True(doubt()) // also over a restart
		f.is.Equal(f.credits("bob"), imagegen.Credits(10))
		f.is.NoErr(f.ConfirmClock(t.Context()))
		f.is.True(!doubt())
		f.is.Equal(f.credits("bob"), imagegen.Credits(0))
		reopen()
		f.is.True(!doubt())
		f.sound()
	})
}

// The time that a service was up counts, though nothing was entered.
func TestClockIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.grant(imagegen.Grant{User: "alice", Credits: 10})
		time.Sleep(72 * time.Hour)
		_, err := f.Lapse(t.Context())
		f.is.NoErr(err)
		f.reopen()
		_, doubt := f.ClockInDoubt()
		f.is.True(!doubt)
		f.sound()
	})
}

// Every kind of damage to what is stored is found.
func TestCheckFindsDamage(t *testing.T) {
	for _, bucket := range []kv.Bucket{"ledger.journal", "ledger.history", "ledger.head", "ledger.accounts", "ledger.live", "ledger.spent",
		"ledger.sums", "ledger.due", "ledger.charges", "ledger.refs"} {
		for _, how := range []string{"changed", "removed", "added"} {
			t.Run(string(bucket)+" "+how, func(t *testing.T) {
				f := open(t)
				f.grant(imagegen.Grant{User: "alice", Credits: 1, Expires: time.Now().Add(time.Minute)})
				f.grant(imagegen.Grant{User: "alice", Credits: 10, Ref: "r", Expires: time.Now().Add(time.Hour)})
				f.is.NoErr(f.Charge(t.Context(), charge("c", "alice", 4)))
				f.is.NoErr(f.Settle(t.Context(), "c", 1))
				f.grant(imagegen.Grant{User: "alice", Credits: 1})
				f.is.NoErr(f.Charge(t.Context(), charge("d", "alice", 2)))
				f.sound()
				f.is.NoErr(f.db.Update(t.Context(), func(tx kv.Tx) error {
					var key, value []byte
					tx.Ascend(bucket, nil, func(k, v []byte) bool {
						key, value = append([]byte{}, k...), append([]byte{}, v...)
						return false
					})
					f.is.True(key != nil) // there is something to damage
					switch how {
					case "changed":
						value[len(value)-1] ^= 1
						tx.Put(bucket, key, value)
					case "removed":
						tx.Delete(bucket, key)
					case "added":
						tx.Put(bucket, append(key, 1), value)
					}
					return nil
				}))
				f.is.True(len(f.violations()) > 0)
			})
		}
	}
}

func BenchmarkChargeAndSettle(b *testing.B) {
	for _, lots := range []int{1, 100_000} {
		b.Run(fmt.Sprint(lots, " lots"), func(b *testing.B) {
			db := memkv.New()
			l, err := ledger.New(db, nil)
			if err != nil {
				b.Fatal(err)
			}
			ctx := context.Background()
			for i := range lots {
				if _, err := l.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1e9, Expires: time.Now().Add(time.Duration(i+1) * time.Hour)}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c := charge(fmt.Sprint(i), "alice", 4)
				if l.Charge(ctx, c) != nil || l.Settle(ctx, c.ID, 2) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}
