package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// books are those of a ledger in memory.
type books struct {
	*testing.T
	*Ledger
	is    *is.I
	store *Memory
}

// granted is a ledger in which alice has two lots of ten credits.
func granted(t *testing.T) *books {
	store := NewMemory(func(account.TrailRow) error { return nil })
	l, err := New(store, time.Now)
	b := &books{t, l, is.New(t), store}
	b.is.NoErr(err)
	for range 2 {
		_, err := b.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(time.Hour)})
		b.is.NoErr(err)
	}
	return b
}

// write runs f over a user's account.
func (b *books) write(u imagegen.UserID, f func(*openAccount) error) error {
	now := time.Now().UTC().Round(0)
	return b.store.Update(b.Context(), func(tx Tx) error {
		return f(b.At(tx, clock.Reading{Now: now, Wall: now}).accountOf(u))
	})
}

// enter puts an entry into the journal, and nothing that it leads to.
func (b *books) enter(e Entry) {
	p := b.store.rows.page(e.User)
	p.journal = append(p.journal, e)
	b.store.rows.pages[e.User] = p
}

// rules are those that a check finds broken.
func (b *books) rules() map[string]bool {
	broken := make(map[string]bool)
	b.is.NoErr(b.store.Look(b.Context(), func(r Rows) error {
		_, err := Audit(b.Context(), r, func(v imagegen.Violation) { broken[v.Rule] = true })
		return err
	}))
	return broken
}

func (b *books) finds(rule string) {
	b.Helper()
	if found := b.rules(); !found[rule] {
		b.Errorf("found %v, want %s", found, rule)
	}
}

// An entry that would break an invariant is refused when it is to be made, and found by an audit
// where it was made all the same: the books and the audit have the same rules.
func TestUnsoundEntries(t *testing.T) {
	take := func(n imagegen.Credits) []Posting { return []Posting{{Lot: 1, Took: n}} }
	back := func(took, back, moved imagegen.Credits) []Posting { return []Posting{{1, took, back, moved}} }
	grant := func(c, made imagegen.Credits, p ...Posting) Entry {
		return Entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, User: "alice", Credits: c},
			Lots: []NewLot{{Credits: made}}, Postings: p}
	}
	settle := func(credits, used imagegen.Credits, p []Posting) Entry {
		return Entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: "alice", Charge: "c", Credits: credits,
			Used: used}, Postings: p}
	}
	charge := func(u imagegen.UserID, credits imagegen.Credits, p []Posting) Entry {
		return Entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, User: u, Charge: "c", Credits: -credits},
			Postings: p}
	}
	refund := settle(2, 0, nil)
	refund.Lots = []NewLot{{Credits: 2}}
	for name, test := range map[string]struct {
		e    Entry
		rule string
	}{
		"grants more than it says":             {grant(1, 2), "postings"},
		"grants more than an account can have": {grant(imagegen.MaxCredits, imagegen.MaxCredits), "zero sum"},
		"grants nothing":                       {grant(0, 0), "lot sum"},
		"grants by moving":                     {grant(2, 2, take(2)...), "postings"},
		"moves nothing":                        {charge("alice", 0, take(0)), "postings"},
		"charges more than it takes":           {charge("alice", 3, take(2)), "postings"},
		"charges more than there is":           {charge("alice", 21, take(21)), "zero sum"},
		"charges more than the lot has":        {charge("alice", 11, take(11)), "lot sum"},
		"charges another's lot":                {charge("bob", 2, take(2)), "zero sum"},
		"charges no lot":                       {charge("alice", 2, []Posting{{Lot: 3, Took: 2}}), "lot"},
		"takes and puts back":                  {settle(-2, 0, back(-2, -2, 0)), "postings"},
		"gives back more than it takes":        {settle(3, -1, back(2, 3, 0)), "postings"},
		"moves more than it takes":             {settle(0, -1, back(2, 0, 3)), "postings"},
		"moves a debt":                         {settle(2, 1, back(2, 2, -1)), "postings"},
		"refunds what was not there":           {refund, "postings"},
		"spends what it does not say":          {settle(0, 0, take(1)), "postings"},
		"spends what is not held":              {settle(0, 3, take(3)), "zero sum"},
		"settles what is not held":             {settle(3, 0, back(3, 3, 0)), "zero sum"},
	} {
		t.Run(name, func(t *testing.T) {
			b := granted(t)
			refused, _ := errors.AsType[imagegen.Violation](b.write(test.e.User, func(a *openAccount) error {
				_, err := a.record(test.e)
				return err
			}))
			b.is.Equal(refused.Rule, test.rule)
			b.is.Equal(len(b.rules()), 0) // nothing of it was written
			var e Entry
			b.is.NoErr(b.write(test.e.User, func(a *openAccount) error { e = a.chain(test.e, 0); return nil }))
			b.enter(e)
			b.finds(test.rule)
		})
	}
}

// The journal's order, what it says of balances and of charges are checked as well.
func TestCheckFindsFalseEntries(t *testing.T) {
	for name, test := range map[string]struct {
		falsify func(*Entry)
		rule    string
	}{
		"older than the one before": {func(e *Entry) { e.Time = e.Time.Add(-time.Hour) }, "journal time"},
		"of another balance":        {func(e *Entry) { e.Balance++ }, "balance"},
		"of an epoch to come":       {func(e *Entry) { e.Epoch++ }, "journal epoch"},
		"of a correction in the same epoch": {func(e *Entry) {
			e.Kind, e.Lots, e.Credits, e.Balance = entryClock, nil, 0, 16
		}, "journal epoch"},
		"of another user":         {func(e *Entry) { e.User = "bob" }, "journal sequence"},
		"out of sequence":         {func(e *Entry) { e.Seq++ }, "journal sequence"},
		"of another lot's number": {func(e *Entry) { e.Lots[0].Number++ }, "lot"},
		"of a lot that is not there": {func(e *Entry) {
			e.Kind, e.Lots, e.Credits, e.Postings, e.Balance = imagegen.EntryExpire, nil, -1,
				[]Posting{{Lot: 9, Took: 1}}, 15
		}, "lot"},
		"of a charge that is not open": {func(e *Entry) {
			e.Kind, e.Lots, e.Charge, e.Postings = imagegen.EntrySettle, nil, "d", []Posting{{Lot: 1, Took: 4, Back: 4}}
			e.Credits, e.Balance = 4, 20
		}, "charge"},
		"of a part of a charge": {func(e *Entry) {
			e.Kind, e.Lots, e.Charge, e.Postings = imagegen.EntrySettle, nil, "c", []Posting{{Lot: 1, Took: 3, Back: 3}}
			e.Credits, e.Balance = 3, 19
		}, "charge"},
		"of a charge once more": {func(e *Entry) {
			e.Kind, e.Lots, e.Charge, e.Postings = imagegen.EntryCharge, nil, "c", []Posting{{Lot: 1, Took: 4}}
			e.Credits, e.Balance = -4, 12
		}, "charge"},
	} {
		t.Run(name, func(t *testing.T) {
			b := granted(t)
			b.is.NoErr(b.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 4}))
			b.is.Equal(len(b.rules()), 0)
			var e Entry
			b.is.NoErr(b.write("alice", func(a *openAccount) error {
				former := a.Hash
				e = a.chain(Entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, Credits: 2},
					Lots: []NewLot{{Credits: 2}}}, 0)
				test.falsify(&e)
				e.Encoded = kv.Encode(&e, entryForm)
				e.Hash = kv.Chained(former, e.Encoded)
				return nil
			}))
			p := b.store.rows.page("alice")
			p.journal = append(p.journal, e)
			b.finds(test.rule)
		})
	}
}

// Damage to the rows is found by what is wrong with it, or because no journal leads to it.
func TestCheckNamesWhatIsBroken(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(*memory, *page)
		rule string
	}{
		"a lot that holds less": {func(_ *memory, p *page) { p.lots[0].Held, p.lots[0].Spent = 3, 1 },
			"journal replay"},
		"a lot that does not add up": {func(_ *memory, p *page) { p.lots[0].Remaining-- }, "lot sum"},
		"a lot that is gone":         {func(_ *memory, p *page) { p.lots = p.lots[:1] }, "account"},
		"a lot too many": {func(_ *memory, p *page) {
			p.lots = append(p.lots, Lot{Number: 3, Lot: imagegen.Lot{User: "alice"}})
		}, "journal replay"},
		"an entry that is gone": {func(_ *memory, p *page) { p.journal = p.journal[1:] }, "journal sequence"},
		"an entry that was changed": {func(_ *memory, p *page) { p.journal[1].Encoded = []byte("other") },
			"journal chain"},
		"the last entry gone": {func(_ *memory, p *page) { p.journal = p.journal[:2] }, "journal replay"},
		"an account with more": {func(_ *memory, p *page) { p.account.Available++; p.account.Granted++ },
			"account"},
		"an account out of thin air": {func(_ *memory, p *page) { p.account.Available++ }, "zero sum"},
		"an account that expires":    {func(_ *memory, p *page) { p.account.Next.Credits++ }, "journal replay"},
		"a row of usage with more": {func(_ *memory, p *page) {
			p.changeUsage(func(s *imagegen.UsageSums) { s.Charged++ })
		}, "journal replay"},
		"a row of usage too many": {func(_ *memory, p *page) {
			p.usage[UsageKey{User: "alice", Day: imagegen.UsageDay(time.Now())}] = imagegen.UsageSums{}
		}, "journal replay"},
		"a row of usage gone": {func(_ *memory, p *page) { clear(p.usage) }, "journal replay"},
		"a key that has used less": {func(_ *memory, p *page) { p.keys["key_1"] = KeyTotal{"alice", "key_1", 1, 1} },
			"journal replay"},
		"a key's total too many": {func(_ *memory, p *page) {
			p.keys["key_2"] = KeyTotal{User: "alice", Key: "key_2"}
		}, "journal replay"},
		"a key's total gone":          {func(_ *memory, p *page) { clear(p.keys) }, "journal replay"},
		"a charge that holds less":    {func(m *memory, _ *page) { m.charges["c"].Postings = nil }, "charge sum"},
		"a charge that used too much": {func(m *memory, _ *page) { m.charges["s"].Used = 5 }, "charge sum"},
		"a charge that used a debt":   {func(m *memory, _ *page) { m.charges["s"].Used = -1 }, "charge sum"},
		"a settled charge of more":    {func(m *memory, _ *page) { m.charges["s"].Credits++ }, "journal replay"},
		"an open charge of another":   {func(m *memory, _ *page) { m.charges["c"].Seq = 1 }, "journal replay"},
		"a charge that is gone":       {func(m *memory, _ *page) { delete(m.charges, "c") }, "journal replay"},
		"a charge of nothing": {func(m *memory, _ *page) { m.charges["x"] = &Charge{Settled: true} },
			"journal replay"},
		"a reference that is gone": {func(m *memory, _ *page) { delete(m.refs, "r") }, "journal replay"},
		"a reference of nothing":   {func(m *memory, _ *page) { m.refs["x"] = Place{"alice", 1} }, "journal replay"},
		"a clock behind": {func(m *memory, _ *page) { m.clock.Written = time.Unix(1, 0) },
			"journal replay"},
		"a clock of another epoch": {func(m *memory, _ *page) { m.clock.Epoch++ }, "journal replay"},
	} {
		t.Run(name, func(t *testing.T) {
			b := granted(t)
			b.is.NoErr(b.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 4}))
			b.is.NoErr(b.Charge(t.Context(), imagegen.Charge{ID: "s", User: "alice", Credits: 4, Model: "m",
				Key: "key_1", N: 2}))
			b.is.NoErr(b.Settle(t.Context(), "s", 2))
			_, err := b.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 1, Ref: "r"})
			b.is.NoErr(err)
			b.is.Equal(len(b.rules()), 0)
			test.harm(b.store.rows, b.store.rows.pages["alice"])
			b.finds(test.rule)
		})
	}
}

// changeUsage changes the one row of usage of an API key.
func (p *page) changeUsage(change func(*imagegen.UsageSums)) {
	for key, sums := range p.usage {
		if key.Key != "" {
			change(&sums)
			p.usage[key] = sums
		}
	}
}

// A grant is repeated by way of its entry, and no other entry passes for it.
func TestRepeatedGrantOfSeveralLots(t *testing.T) {
	b := granted(t)
	b.is.NoErr(b.write("alice", func(a *openAccount) error {
		_, err := a.record(Entry{Entry: imagegen.Entry{Kind: imagegen.EntryGrant, Credits: 2, Ref: "r"},
			Lots: []NewLot{{Credits: 1}, {Credits: 1}}})
		return err
	}))
	_, err := b.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 2, Ref: "r"})
	b.is.True(err != nil && !imagegen.Definite(err))
}

// If expired credits cannot be written off, the operation behind that is not carried out, and nothing is written.
func TestNothingBehindWhatCannotBeWrittenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := granted(t)
		b.store.rows.pages["alice"].lots[0].Granted++
		before := b.content()
		time.Sleep(2 * time.Hour)
		_, err := b.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 1})
		b.is.True(errors.Is(err, imagegen.ErrNotApplied))
		_, err = b.Expire(t.Context())
		b.is.True(errors.Is(err, imagegen.ErrNotApplied))
		b.is.Equal(b.content(), before)
	})
}

func TestMemoryIsNotReadInVain(t *testing.T) {
	b := granted(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.Balance(ctx, "alice")
	b.is.True(errors.Is(err, context.Canceled))
}

// The writes of a transaction that failed, or panicked, are taken back.
func TestMemoryTakesBack(t *testing.T) {
	b := granted(t)
	b.is.NoErr(b.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 4}))
	l, before := b.Ledger, b.content()
	operate := func(tx Tx) {
		books := l.At(tx, l.Read())
		_, err := books.grant(imagegen.Grant{User: "bob", Credits: 3, Ref: "r"}, account.Actor{})
		b.is.NoErr(err)
		b.is.NoErr(books.Charge(imagegen.Charge{ID: "d", User: "bob", Credits: 3}, Asker{}))
		b.is.NoErr(books.Settle("c", 3))
		b.is.NoErr(books.Settle("never charged", 0))
		tx.OnCommit(func() { t.Error("it was not committed") })
	}
	b.is.True(b.store.Update(t.Context(), func(tx Tx) error { operate(tx); return errors.New("no") }) != nil)
	b.is.Equal(b.content(), before)
	func() {
		defer func() { b.is.True(recover() != nil) }()
		_ = b.store.Update(t.Context(), func(tx Tx) error { operate(tx); panic("no") })
	}()
	b.is.Equal(b.content(), before)
	b.is.Equal(len(b.rules()), 0)
}

// content is all that the rows say.
func (b *books) content() string {
	m := b.store.rows
	var s strings.Builder
	for u := range m.Users() {
		fmt.Fprintf(&s, "%+v\n", *m.pages[u])
	}
	for _, id := range slices.Sorted(m.Charges()) {
		fmt.Fprintf(&s, "%s %+v\n", id, *m.charges[id])
	}
	fmt.Fprintf(&s, "%v %+v", m.refs, m.clock)
	return s.String()
}
