package ledgerkv

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// The indexes have lots in the order that the ledger promises, and users as something of theirs expires.
func TestOrderOfIndexes(t *testing.T) {
	is, db := is.New(t), kvtest.New()
	r := rand.New(rand.NewPCG(1, 2))
	begin := time.Unix(1_700_000_000, 0).UTC()
	few := func(n int) time.Time { return begin.Add(time.Duration(r.IntN(n)) * time.Nanosecond) }
	var all []ledger.Lot
	accountsOf := map[imagegen.UserID]ledger.Account{}
	for n := range uint64(300) {
		l := ledger.Lot{Number: n + 1, Lot: imagegen.Lot{User: "alice", Granted: 1,
			Remaining: imagegen.Credits(r.IntN(2)), Promo: r.IntN(2) == 0, Priority: 1 + r.IntN(3), Effective: few(3)}}
		if r.IntN(3) > 0 {
			l.Expires = few(3)
		}
		all = append(all, l)
		u := imagegen.UserID(fmt.Sprint("user ", n))
		a := ledger.Account{User: u}
		if r.IntN(2) == 0 {
			a.Next = imagegen.Expiration{Credits: 1, At: few(50)}
		}
		accountsOf[u] = a
	}
	is.NoErr(db.Update(t.Context(), func(tx kv.Tx) error {
		for _, n := range r.Perm(len(all)) {
			lots.Put(tx, nil, &all[n])
		}
		for _, a := range accountsOf {
			accounts.Put(tx, nil, &a)
		}
		// whose key begins alike
		lots.Put(tx, nil, &ledger.Lot{Number: 1, Lot: imagegen.Lot{User: "alice\x01", Remaining: 1, Expires: begin}})
		return nil
	}))
	spent := func(l ledger.Lot) bool { return l.Remaining == 0 }
	toSpend := slices.DeleteFunc(slices.Clone(all), spent)
	slices.SortFunc(toSpend, ledger.Lot.Compare)
	toExpire := slices.DeleteFunc(slices.Clone(toSpend), func(l ledger.Lot) bool { return l.Expires.IsZero() })
	slices.SortFunc(toExpire, ledger.Lot.CompareExpiry)
	is.NoErr(db.View(t.Context(), func(tx kv.Tx) error {
		rows := Rows(tx)
		is.Equal(cmp.Diff(toSpend, slices.Collect(rows.Spendable("alice"))), "")
		is.Equal(cmp.Diff(toExpire, slices.Collect(rows.Expiring("alice"))), "")
		is.Equal(cmp.Diff(all, slices.Collect(rows.Lots("alice"))), "")
		at, last, n := begin.Add(20*time.Nanosecond), time.Time{}, 0
		for u := range rows.Due(at) {
			next := accountsOf[u].Next.At
			is.True(!next.IsZero() && !next.After(at) && !next.Before(last))
			last = next
			n++
		}
		for _, a := range accountsOf {
			if !a.Next.At.IsZero() && !a.Next.At.After(at) {
				n--
			}
		}
		is.Equal(n, 0)
		return nil
	}))
}

var update = flag.Bool("update", false, "write what this version stores to testdata")

// The rows of a ledger, and the hashes over them, stay as they are. Where this fails, a migration is needed;
// -update writes the file anew while there is no data to migrate.
func TestFormerRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const file = "testdata/ledger.txt"
		is, db := is.New(t), kvtest.New()
		l, err := New(db, time.Now)
		is.NoErr(err)
		operate(t, l)
		is.NoErr(db.View(t.Context(), func(tx kv.Tx) error {
			_, err := Audit(t.Context(), tx, func(v imagegen.Violation) { t.Error(v) })
			return err
		}))
		if *update {
			is.NoErr(os.WriteFile(file, []byte(stored(t, db)), 0o600))
		}
		want, err := os.ReadFile(file)
		is.NoErr(err)
		is.Equal(cmp.Diff(string(want), stored(t, db)), "")
	})
}

// operate leaves something in each bucket.
func operate(t *testing.T, l *ledger.Ledger) {
	is, ctx := is.New(t), account.WithActor(t.Context(), account.Actor{Via: "test", Name: "olivia"})
	for _, g := range []imagegen.Grant{{Credits: 3, Promo: true, Expires: time.Now().Add(time.Hour)},
		{Credits: 10, Priority: 7, Ref: "a grant"}} {
		g.User = "alice"
		_, err := l.Grant(ctx, g)
		is.NoErr(err)
	}
	is.NoErr(l.Charge(ctx, imagegen.Charge{ID: "settled", User: "alice", Credits: 12, Model: "m", Key: "key_1", N: 6}))
	time.Sleep(2 * time.Hour)
	is.NoErr(l.Settle(ctx, "settled", 10))
	is.NoErr(l.Charge(ctx, imagegen.Charge{ID: "open", User: "alice", Credits: 1}))
	is.NoErr(l.Settle(ctx, "never charged", 0))
	_, err := l.Revoke(ctx, imagegen.Revocation{User: "alice", Credits: 1, Ref: "a revocation"})
	is.NoErr(err)
}

// stored is the ledger's buckets, readable.
func stored(t *testing.T, db kv.DB) string {
	var s strings.Builder
	is.New(t).NoErr(db.View(t.Context(), func(tx kv.Tx) error {
		for _, b := range []kv.Bucket{journal, accountsIn, accountsIn + ".due", lotsIn, lotsIn + ".spendable", lotsIn +
			".expiring", chargesIn, refsIn, usageIn, usageIn + ".days", keysIn, clockIs} {
			tx.Ascend(b, nil, func(key, value []byte) bool {
				fmt.Fprintf(&s, "%s %q %x\n", b, key, value)
				return true
			})
		}
		return nil
	}))
	return s.String()
}
