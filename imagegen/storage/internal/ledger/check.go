package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Counts is how much Check went over.
type Counts struct{ Entries, Accounts, Lots, Charges int }

// Audit goes over a whole ledger and reports every broken invariant. For each user it checks the journal's chain,
// the postings of each entry, the sum of each lot and of the account, and that replaying the journal gives the
// rows that exist. Then it checks that each charge and each reference belongs to an entry. Its error means that
// the check could not be carried out.
//
// A row that cannot be read is reported, and ends only the part of the check that needs it. Check keeps the lots,
// the usage and the open charges of one user at a time in memory.
func Audit(ctx context.Context, rows Rows, report func(imagegen.Violation)) (Counts, error) {
	c := &checker{ctx: ctx, rows: rows, report: report}
	// The current epoch comes first: only entries of this epoch bear on what is stored of the clock.
	c.spare("clock", "", func() { c.mark.Epoch = rows.Account("").Epoch })
	for u := range rows.Users() {
		c.spare("account", string(u), func() { c.user(u) })
	}
	for id := range rows.Charges() {
		c.spare("charge", string(id), func() { c.charge(id) })
	}
	for ref := range rows.Refs() {
		c.spare("reference", ref, func() { c.ref(ref) })
	}
	c.spare("clock", "", c.clock)
	return c.counts, c.err
}

type checker struct {
	ctx    context.Context
	rows   Rows
	report func(imagegen.Violation)
	counts Counts
	mark   clock.Mark // what the entries so far say of the clock
	err    error      // why the check cannot be carried out
}

// broken makes a Violation.
func broken[Subject ~string](rule string, subject Subject, format string, args ...any) imagegen.Violation {
	return imagegen.Violation{Rule: rule, Subject: string(subject), Detail: fmt.Sprintf(format, args...)}
}

// spare runs a part of the check, unless the check has to end. A row that cannot be read ends the part and is
// reported.
func (c *checker) spare(rule, subject string, part func()) {
	if c.stopped() {
		return
	}
	if err := kv.Spare(func() error { part(); return nil }); err != nil {
		c.report(broken(rule, subject, "%v", err))
	}
}

// stopped reports whether the check has to end, because its context has ended, and keeps the reason.
func (c *checker) stopped() bool {
	if c.err == nil {
		c.err = c.ctx.Err()
	}
	return c.err != nil
}

// found reports err if it is a Violation.
func (c *checker) found(err error) {
	if v, ok := errors.AsType[imagegen.Violation](err); ok {
		c.report(v)
	}
}

// user replays one user's journal in memory, from its beginning, and compares the rows that exist with the
// result. At the first entry that is wrong the replay ends, since all later ones build on it; the sums are checked
// all the same.
func (c *checker) user(u imagegen.UserID) {
	if u != "" {
		c.counts.Accounts++
	}
	replayed := newMemory()
	for e, err := range c.rows.Journal(u) {
		if c.stopped() {
			return
		}
		c.counts.Entries++
		if err == nil {
			err = c.entry(replayed, u, e)
		} else {
			err = broken("journal entry", Place{u, replayed.Account(u).Seq + 1}.subject(), "%v", err)
		}
		if err != nil {
			c.found(err)
			c.sums(u)
			return
		}
	}
	c.sums(u)
	c.compare(u, replayed)
}

// entry checks an entry by itself and against those before it, and replays it: with the functions that an
// operation uses, but into memory.
func (c *checker) entry(replayed *memory, u imagegen.UserID, e Entry) error {
	a, open := Books{tx: &memoryTx{memory: replayed}}.accountOf(u), replayed.charges[e.Charge]
	if err := e.follows(a.Account); err != nil {
		return err
	}
	if e.Epoch > c.mark.Epoch {
		return broken("journal epoch", e.subject(), "it is of epoch %d, and the last is %d", e.Epoch, c.mark.Epoch)
	}
	change, err := apply(a, e)
	if err != nil {
		return err
	}
	if !e.settles(open) || !c.billed(open, e) {
		return broken("charge", e.Charge, "%s is about it, and what is open is %+v", e.subject(), open)
	}
	if err := change.book(a.tx); err != nil {
		return err
	}
	replayed.put(change)
	if e.Epoch == c.mark.Epoch {
		c.mark = c.mark.Wrote(e.Time, e.Epoch)
	}
	c.noteNames(replayed, e)
	return nil
}

// settles reports whether an entry fits the charge with its identifier that is open at that point of the replay,
// nil if none is. A settlement must have one, with the same amount and lots, unless it is of what was never
// charged. That one, and every other entry, must find none.
func (e Entry) settles(open *Charge) bool {
	if open == nil || e.Kind != imagegen.EntrySettle {
		return open == nil && (e.Kind != imagegen.EntrySettle || e.User == "")
	}
	return open.Credits == e.Credits+e.Used &&
		slices.EqualFunc(open.Postings, e.Postings, func(a, b Posting) bool {
			return a.Lot == b.Lot && a.Took == b.Took
		})
}

// noteNames checks that an entry is found by its charge and its reference. A settled charge changes no more, so it is
// compared at once, and not kept until the end of the replay.
func (c *checker) noteNames(replayed *memory, e Entry) {
	if charge := replayed.charges[e.Charge]; charge != nil && charge.Settled {
		delete(replayed.charges, e.Charge)
		c.same(e.Charge, charge)
	}
	if e.Ref == "" {
		return
	}
	if p, known := c.rows.Ref(e.Ref); !known || p != e.place() {
		c.report(broken("journal replay", e.subject(), "its reference %q leads to another", e.Ref))
	}
}

// same compares a stored charge with a replayed one.
func (c *checker) same(id imagegen.ChargeID, replayed *Charge) {
	if stored, known := c.rows.Charge(id); !known || stored.Place != replayed.Place ||
		stored.Credits != replayed.Credits ||
		stored.Settled != replayed.Settled || stored.Used != replayed.Used || !slices.Equal(stored.Postings,
		replayed.Postings) {
		c.report(broken("journal replay", id, "the journal leads to the charge %+v; it is %+v, there: %t", *replayed,
			stored, known))
	}
}

// compare compares a user's rows with the replayed ones, in both directions: nothing differs, is missing, or is there
// without an entry that leads to it.
func (c *checker) compare(u imagegen.UserID, replayed *memory) {
	if got, want := c.rows.Account(u), replayed.Account(u); got != want {
		c.report(broken("journal replay", u, "the journal leads to the account %+v; it is %+v", want, got))
	}
	lots := replayed.page(u).lots
	for l := range c.rows.Lots(u) {
		if want, known := nth(lots, l.Number); !known || l != want {
			c.report(broken("journal replay", lotID(u, l.Number),
				"the journal leads to the lot %+v, there: %t; it is %+v", want, known, l))
		}
	}
	for _, l := range lots {
		if _, known := c.rows.Lot(u, l.Number); !known {
			c.report(broken("journal replay", lotID(u, l.Number), "the journal leads to a lot that is not there"))
		}
	}
	c.usage(u, replayed)
	for id, open := range replayed.charges {
		c.same(id, open)
	}
}

// sums checks the sum of each lot and of the account, independently of the journal.
func (c *checker) sums(u imagegen.UserID) {
	var sum Totals
	for l := range c.rows.Lots(u) {
		c.counts.Lots++
		c.found(l.checkSum())
		sum.addLot(l.Lot)
	}
	a := c.rows.Account(u)
	c.found(a.checkSums())
	if sum != a.Totals {
		c.report(broken("account", u, "it says %+v, its lots sum to %+v", a.Totals, sum))
	}
}

// charge checks a charge by itself, and that it belongs to an entry. The replay of that entry has compared the two.
func (c *checker) charge(id imagegen.ChargeID) {
	c.counts.Charges++
	charge, _ := c.rows.Charge(id)
	c.found(charge.checkID(id))
	if e, known := c.rows.Entry(charge.Place); !known || e.Charge != id {
		c.report(broken("journal replay", id, "no journal entry leads to the charge"))
	}
}

// ref checks that a reference names the entry that has it.
func (c *checker) ref(ref string) {
	p, _ := c.rows.Ref(ref)
	if e, known := c.rows.Entry(p); !known || e.Ref != ref {
		c.report(broken("journal replay", ref, "no journal entry has this reference"))
	}
}

// clock checks what is stored about the latest time of an entry, which keeps time from falling after a restart.
func (c *checker) clock() {
	if got := c.rows.Clock(); got.Epoch != c.mark.Epoch || !got.Written.Equal(c.mark.Written) {
		c.report(broken("journal replay", "clock",
			"the latest entry is of %s in epoch %d; written down is %s in epoch %d", c.mark.Written, c.mark.Epoch,
			got.Written, got.Epoch))
	}
}

// Unreturned calls f for each charge that is open or has spent credits, until f returns false. What such a charge
// paid for must exist. A charge that cannot be read is passed over; Audit reports it.
func Unreturned(rows Rows, f func(imagegen.ChargeID) bool) {
	for id := range rows.Charges() {
		var c Charge
		err := kv.Spare(func() error { c, _ = rows.Charge(id); return nil })
		if err == nil && (!c.Settled || c.Used != 0) && !f(id) {
			return
		}
	}
}
