package ledger

import (
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/memkv"
)

// An entry that would break an invariant is refused when it is to be made, and found by an audit
// where it was made all the same: the books and the audit have the same rules.
func TestUnsoundEntries(t *testing.T) {
	now := time.Now().UTC().Round(0)
	granted := lot{Lot: imagegen.Lot{User: "alice", Granted: 10, Remaining: 10, Effective: now}}
	granted.number(1, 0)
	take := func(n imagegen.Credits) []line { return []line{{lot: granted.key(), took: n}} }
	grant := func(c imagegen.Credits, l imagegen.Lot) entry {
		return entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: c}, lots: []lot{{Lot: l}}}
	}
	settle := func(credits, used imagegen.Credits, lines ...line) entry {
		return entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c", Credits: credits, Used: used}, lines: lines}
	}
	charge := func(u imagegen.UserID, credits imagegen.Credits, lines []line) entry {
		return entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, User: u, Charge: "c", Credits: -credits}, lines: lines}
	}
	back := func(took, back, moved imagegen.Credits) line { return line{granted.key(), took, back, moved} }
	for name, test := range map[string]struct {
		e    entry
		rule string
	}{
		"grants a lot that holds some already": {grant(2, imagegen.Lot{User: "alice", Granted: 2, Remaining: 2, Held: 1}), "postings"},
		"grants more than it says":             {grant(1, imagegen.Lot{User: "alice", Granted: 2, Remaining: 2}), "postings"},
		"grants a lot that does not add up":    {grant(2, imagegen.Lot{User: "alice", Granted: 3, Remaining: 2}), "postings"},
		"grants more than an account can have": {grant(imagegen.MaxCredits, imagegen.Lot{User: "alice", Granted: imagegen.MaxCredits, Remaining: imagegen.MaxCredits}), "zero sum"},
		"grants by moving": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 2}, lines: take(2),
			lots: []lot{{Lot: imagegen.Lot{User: "alice", Granted: 2, Remaining: 2}}}}, "postings"},
		"moves nothing":                 {charge("alice", 0, take(0)), "postings"},
		"grants a lot to another":       {grant(2, imagegen.Lot{User: "bob", Granted: 2, Remaining: 2}), "lot owner"},
		"charges more than it takes":    {charge("alice", 3, take(2)), "postings"},
		"charges more than there is":    {charge("alice", 21, take(21)), "zero sum"},
		"charges more than the lot has": {charge("alice", 11, take(11)), "lot sum"},
		"charges another's lot":         {charge("bob", 2, take(2)), "zero sum"},
		"takes and puts back":           {settle(-2, 0, back(-2, -2, 0)), "postings"},
		"gives back more than it takes": {settle(3, -1, back(2, 3, 0)), "postings"},
		"moves more than it takes":      {settle(0, -1, back(2, 0, 3)), "postings"},
		"moves a debt":                  {settle(2, 1, back(2, 2, -1)), "postings"},
		"refunds what was not there": {entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c", Credits: 2},
			lots: []lot{{Lot: imagegen.Lot{User: "alice", Granted: 2, Remaining: 2}}}}, "postings"},
		"spends what it does not say": {settle(0, 0, take(1)...), "postings"},
		"spends what is not held":     {settle(0, 3, take(3)...), "zero sum"},
		"settles what is not held":    {settle(3, 0, back(3, 3, 0)), "zero sum"},
	} {
		t.Run(name, func(t *testing.T) {
			is, db := is.New(t), memkv.New()
			l, err := New(db, time.Now)
			is.NoErr(err)
			write := func(f func(b Books) error) error {
				return db.Update(t.Context(), func(tx kv.Tx) error { return f(l.At(tx, clock.Reading{Now: now, Wall: now})) })
			}
			is.NoErr(write(func(b Books) error {
				for range 2 {
					e := entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 10}, lots: []lot{granted}}
					if _, err := b.record(e); err != nil {
						return err
					}
				}
				return nil
			}))
			err = write(func(b Books) error {
				_, err := b.record(test.e)
				return err
			})
			refused, _ := errors.AsType[imagegen.Violation](err)
			is.Equal(refused.Rule, test.rule)
			is.NoErr(write(func(b Books) error {
				is.Equal(len(rules(t, b.tx)), 0) // nothing of it was written
				e, stored := b.chain(test.e)
				b.tx.Put(journal, kv.Key(e.Seq), stored)
				if found := rules(t, b.tx); !found[test.rule] {
					t.Errorf("found %v, want %s", found, test.rule)
				}
				return nil
			}))
		})
	}
}

// The journal's order and what it says of balances are checked as well.
func TestCheckFindsFalseEntries(t *testing.T) {
	for name, test := range map[string]struct {
		falsify func(*entry)
		rule    string
	}{
		"older than the one before": {func(e *entry) { e.Time = e.Time.Add(-time.Hour) }, "journal time"},
		"of another balance":        {func(e *entry) { e.Balance++ }, "balance"},
		"of an epoch to come":       {func(e *entry) { e.epoch++ }, "journal epoch"},
		"of a lot that is not there": {func(e *entry) {
			e.Kind, e.lots = imagegen.EntryExpire, nil
			e.Credits, e.lines, e.Balance = -1, []line{{lot: []byte("none"), took: 1}}, 1
		}, "journal replay"},
		"of a charge of more": {func(e *entry) {
			e.Kind, e.Charge, e.Credits, e.lots, e.Balance = imagegen.EntrySettle, "c", -1, nil, 2
			e.Used = -2
		}, "charge sum"},
	} {
		t.Run(name, func(t *testing.T) {
			is, db := is.New(t), memkv.New()
			is.NoErr(db.Update(t.Context(), func(tx kv.Tx) error {
				now := time.Now().UTC().Round(0)
				b := Books{tx: tx, now: now, at: clock.Reading{Now: now, Wall: now}}
				grant := entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 2},
					lots: []lot{{Lot: imagegen.Lot{User: "alice", Granted: 2, Remaining: 2, Effective: b.now}}}}
				_, err := b.record(grant)
				is.NoErr(err)
				e, _ := b.chain(grant)
				test.falsify(&e)
				encoded := e.encode()
				hash := kv.Chained(readHead(tx).hash, encoded)
				tx.Put(journal, kv.Key(e.Seq), append(encoded, hash[:]...))
				if found := rules(t, tx); !found[test.rule] {
					t.Errorf("found %v, want %s", found, test.rule)
				}
				return nil
			}))
		})
	}
}

// A grant is repeated by way of its entry, and no other entry passes for it.
func TestRepeatedGrantOfSeveralLots(t *testing.T) {
	is, db := is.New(t), memkv.New()
	l, err := New(db, time.Now)
	is.NoErr(err)
	one := lot{Lot: imagegen.Lot{User: "alice", Granted: 1, Remaining: 1, Effective: time.Now()}}
	is.NoErr(l.update(t.Context(), func(b Books) error {
		_, err := b.record(entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 2, Ref: "r"}, lots: []lot{one, one}})
		return err
	}))
	_, err = l.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 2, Ref: "r"})
	is.True(err != nil && !imagegen.Definite(err))
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
		"an account with more": {func(tx kv.Tx, l lot) {
			accountRow{account: account{Available: 7, Held: 4, Granted: 11}}.write(tx, l.User)
		}, "account"},
		"an account out of thin air": {func(tx kv.Tx, l lot) {
			accountRow{account: account{Available: 7, Held: 4, Granted: 10}}.write(tx, l.User)
		}, "zero sum"},
		"a charge that holds less": {func(tx kv.Tx, l lot) { chargeRow{User: l.User, Credits: 4}.write(tx, "c") }, "charge sum"},
		"a settled charge that holds": {func(tx kv.Tx, l lot) {
			chargeRow{User: l.User, Credits: 4, Settled: true, lines: []line{{lot: l.key(), took: 4}}}.write(tx, "c")
		}, "charge sum"},
		"a charge that used too much": {func(tx kv.Tx, l lot) { chargeRow{User: l.User, Credits: 4, Settled: true, Used: 5}.write(tx, "c") }, "charge sum"},
		"a charge that used a debt":   {func(tx kv.Tx, l lot) { chargeRow{User: l.User, Credits: 4, Settled: true, Used: -1}.write(tx, "c") }, "charge sum"},
		"a charge that is gone":       {func(tx kv.Tx, _ lot) { tx.Delete(charges, chargeKey("c")) }, "held"},
	} {
		t.Run(name, func(t *testing.T) {
			is, db := is.New(t), memkv.New()
			l, err := New(db, time.Now)
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
