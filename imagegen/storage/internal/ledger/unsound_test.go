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
		"grants more than it says": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 1},
			lots: []lot{{Lot: imagegen.Lot{User: "alice", Granted: 2, Remaining: 2}}}}, "zero sum"},
		"grants a lot that does not add up": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 2},
			lots: []lot{{Lot: imagegen.Lot{User: "alice", Granted: 3, Remaining: 2}}}}, "lot sum"},
		"grants a lot to another": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 2},
			lots: []lot{{Lot: imagegen.Lot{User: "bob", Granted: 2, Remaining: 2}}}}, "account"},
		"charges more than it takes": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, User: "alice", Charge: "c", Credits: -3},
			lines: take(2)}, "zero sum"},
		"charges more than there is": {entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, User: "alice", Charge: "c", Credits: -11},
			lines: take(11)}, "balance"},
		"holds without a charge": {entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c", Credits: -2},
			lines: []line{{lot: granted.key(), took: -2, back: -2}}}, "held"},
		"refunds what was not there": {entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c", Credits: 2},
			lots: []lot{{Lot: imagegen.Lot{User: "alice", Granted: 2, Remaining: 2}}}}, "zero sum"},
		"spends what it does not say": {entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c"},
			lines: take(1)}, "zero sum"},
		"uses more than was charged": {entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c", Credits: -1, Used: -2}}, "charge sum"},
	} {
		t.Run(name, func(t *testing.T) {
			is, db := is.New(t), memkv.New()
			is.NoErr(db.Update(t.Context(), func(tx kv.Tx) error {
				b := Books{tx, now}
				_, err := b.record(entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: 10}, lots: []lot{granted}})
				is.NoErr(err)
				is.Equal(len(rules(t, tx)), 0)
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

// rules are those that a check finds broken.
func rules(t *testing.T, tx kv.Tx) map[string]bool {
	broken := make(map[string]bool)
	_, err := Check(t.Context(), tx, memkv.New(), func(v imagegen.Violation) { broken[v.Rule] = true })
	is.New(t).NoErr(err)
	return broken
}
