package ledger

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// A journal that is replayed leads to the same rows. An entry that is not the next of its account, or not sound, is
// refused.
func TestReplay(t *testing.T) {
	is := is.New(t)
	from := granted(t)
	is.NoErr(from.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 3}))
	to := &books{t, nil, is, NewMemory(func(account.TrailRow) error { return nil })}
	var err error
	to.Ledger, err = New(to.store, time.Now)
	is.NoErr(err)
	refuses := func(rule string, stored []byte) {
		t.Helper()
		v, _ := errors.AsType[imagegen.Violation](to.replay(stored))
		is.Equal(v.Rule, rule)
	}
	journal := from.store.rows.pages["alice"].journal
	refuses("journal entry", []byte("cut"))
	refuses("journal sequence", journal[1].Stored())
	for _, e := range journal {
		is.NoErr(to.replay(e.Stored()))
	}
	refuses("journal sequence", journal[1].Stored())
	to.store.rows.clock = from.store.rows.clock // which is not an entry
	is.True(reflect.DeepEqual(to.store.rows.pages["alice"].account, from.store.rows.pages["alice"].account))
	is.Equal(len(to.rules()), 0)

	next := func(e Entry) (chained Entry) {
		is.NoErr(to.write("alice", func(a *openAccount) error { chained = a.chain(e, 0); return nil }))
		return chained
	}
	forged := next(Entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, User: "alice", Charge: "d", Credits: -1},
		Postings: []Posting{{Lot: 1, Took: 1}}})
	forged.Hash[0]++
	refuses("journal chain", forged.Stored())
	refuses("lot", next(Entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, User: "alice", Charge: "d",
		Credits: -1}, Postings: []Posting{{Lot: 9, Took: 1}}}).Stored())
	is.Equal(len(to.rules()), 0) // nothing of it was written
	is.NoErr(to.replay(next(Entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, User: "alice", Charge: "c",
		Credits: -1}, Postings: []Posting{{Lot: 1, Took: 1}}}).Stored()))
	is.True(len(to.rules()) > 0) // a charge of which there are two is for an audit to find
}

func (b *books) replay(stored []byte) error {
	return b.store.Update(b.Context(), func(tx Tx) error { return Replay(tx, stored) })
}
