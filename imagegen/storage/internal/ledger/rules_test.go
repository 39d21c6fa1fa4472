package ledger

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/memkv"
)

// An entry that should never have been made is found, though the journal's chain and the state
// agree on it.
func TestCheckFindsUnsoundEntries(t *testing.T) {
	now := time.Now().UTC().Round(0)
	granted := lot{Lot: imagegen.Lot{User: "alice", Granted: 10, Remaining: 10, Effective: now}}
	granted.number(1, 0)
	take := func(n imagegen.Credits) []line { return []line{{lot: granted.key(), took: n}} }
	for name, test := range map[string]struct {
		e    entry
		rule string
	}{
		"is older than the one before": {entry{Entry: imagegen.Entry{Kind: entryClock, Time: now.Add(-1)}}, "journal time"},
		"grants a lot that holds some already": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 2},
			lots: []lot{{Lot: imagegen.Lot{User: "alice", Granted: 2, Remaining: 2, Held: 1}}}}, "postings"},
		"grants more than it says": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 1},
			lots: []lot{{Lot: imagegen.Lot{User: "alice", Granted: 2, Remaining: 2}}}}, "postings"},
		"grants a lot that does not add up": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 2},
			lots: []lot{{Lot: imagegen.Lot{User: "alice", Granted: 3, Remaining: 2}}}}, "lot sum"},
		"grants a lot to another": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 2},
			lots: []lot{{Lot: imagegen.Lot{User: "bob", Granted: 2, Remaining: 2}}}}, "account"},
		"charges more than it takes": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, User: "alice", Charge: "c", Credits: -3},
			lines: take(2)}, "postings"},
		"charges more than there is": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, User: "alice", Charge: "c", Credits: -11},
			lines: take(11)}, "balance"},
		"holds without a charge": {entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c", Credits: -2},
			lines: []line{{lot: granted.key(), took: -2, back: -2}}}, "held"},
		"refunds what was not there": {entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c", Credits: 2},
			lots: []lot{{Lot: imagegen.Lot{User: "alice", Granted: 2, Remaining: 2}}}}, "postings"},
		"spends what it does not say": {entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c"},
			lines: take(1)}, "postings"},
		"settles what is not held": {entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c", Credits: 3},
			lines: []line{{lot: granted.key(), took: 3, back: 3}}}, "balance"},
		"uses more than was charged": {entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c", Credits: -1, Used: -2}}, "charge sum"},
	} {
		t.Run(name, func(t *testing.T) {
			is, db := is.New(t), memkv.New()
			is.NoErr(db.Update(t.Context(), func(tx kv.Tx) error {
				b := Books{tx, now}
				_, err := b.record(entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 10}, lots: []lot{granted}})
				is.NoErr(err)
				is.Equal(len(rules(t, tx)), 0)
				if !test.e.Time.IsZero() {
					b.now = test.e.Time
				}
				_, err = b.record(test.e)
				is.NoErr(err)
				if found := rules(t, tx); !found[test.rule] || found["journal replay"] {
					t.Errorf("found %v, want %s", found, test.rule)
				}
				return nil
			}))
		})
	}
}

// Damage to the state is found by what is wrong with it, not only because no journal leads to it.
func TestCheckNamesWhatIsBroken(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(kv.Tx, lot)
		rule string
	}{
		"a lot among the spent": {func(tx kv.Tx, l lot) {
			tx.Delete(live, l.key())
			tx.Put(spent, l.key(), l.encode())
		}, "lot place"},
		"a lot under another key": {func(tx kv.Tx, l lot) {
			tx.Delete(live, l.key())
			tx.Put(live, append(l.key(), 0), l.encode())
		}, "lot place"},
		"a lot that holds less": {func(tx kv.Tx, l lot) {
			l.Held, l.Spent = l.Held-1, l.Spent+1
			tx.Put(live, l.key(), l.encode())
		}, "held"},
		"a lot that is gone":         {func(tx kv.Tx, l lot) { tx.Delete(live, l.key()) }, "held"},
		"a lot that does not add up": {func(tx kv.Tx, l lot) { l.Remaining--; tx.Put(live, l.key(), l.encode()) }, "lot sum"},
		"a lot that is not due":      {func(tx kv.Tx, l lot) { tx.Delete(due, l.dueKey()) }, "expiry index"},
		"a lot that is gone and due": {func(tx kv.Tx, l lot) { tx.Delete(live, l.key()) }, "expiry index"},
		"a wrong sum":                {func(tx kv.Tx, l lot) { addLapsing(tx, l, 1) }, "expiry index"},
		"nothing that is due":        {func(tx kv.Tx, l lot) { tx.Put(due, append(l.dueKey(), 1), append(l.key(), 1)) }, "expiry index"},
		"an entry that is gone":      {func(tx kv.Tx, _ lot) { tx.Delete(journal, kv.Key(uint64(1))) }, "journal sequence"},
		"no sum":                     {func(tx kv.Tx, l lot) { tx.Delete(lapseSum, l.sumKey()) }, "expiry index"},
		"an account that is gone":    {func(tx kv.Tx, l lot) { tx.Delete(accounts, userKey(l.User)) }, "account"},
		"an account with more":       {func(tx kv.Tx, l lot) { account{Available: 7, Held: 4, Granted: 11}.write(tx, l.User) }, "account"},
		"an account out of thin air": {func(tx kv.Tx, l lot) { account{Available: 7, Held: 4, Granted: 10}.write(tx, l.User) }, "zero sum"},
		"a charge that holds less":   {func(tx kv.Tx, l lot) { chargeRow{User: l.User, Credits: 4}.write(tx, "c") }, "charge sum"},
		"a settled charge that holds": {func(tx kv.Tx, l lot) {
			chargeRow{User: l.User, Credits: 4, Settled: true, lines: []line{{lot: l.key(), took: 4}}}.write(tx, "c")
		}, "charge sum"},
		"a charge that used too much": {func(tx kv.Tx, l lot) { chargeRow{User: l.User, Credits: 4, Settled: true, Used: 5}.write(tx, "c") }, "charge sum"},
		"a charge that used a debt":   {func(tx kv.Tx, l lot) { chargeRow{User: l.User, Credits: 4, Settled: true, Used: -1}.write(tx, "c") }, "charge sum"},
		"a charge that is gone":       {func(tx kv.Tx, _ lot) { tx.Delete(charges, chargeKey("c")) }, "held"},
	} {
		t.Run(name, func(t *testing.T) {
			is, db := is.New(t), memkv.New()
			l, err := New(db, nil)
			is.NoErr(err)
			_, err = l.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(time.Hour)})
			is.NoErr(err)
			is.NoErr(l.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 4}))
			is.NoErr(db.Update(t.Context(), func(tx kv.Tx) error {
				is.Equal(len(rules(t, tx)), 0)
				l, _, err := lotNamed(tx, "alice", "lot_1_0")
				is.NoErr(err)
				test.harm(tx, l)
				if found := rules(t, tx); !found[test.rule] {
					t.Errorf("found %v, want %s", found, test.rule)
				}
				return nil
			}))
		})
	}
}

// rules are those that a check finds broken.
func rules(t *testing.T, tx kv.Tx) map[string]bool {
	broken := make(map[string]bool)
	_, err := Check(t.Context(), tx, memkv.New(), func(v imagegen.Violation) { broken[v.Rule] = true })
	is.New(t).NoErr(err)
	return broken
}
