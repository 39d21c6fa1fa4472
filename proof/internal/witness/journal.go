package witness

import (
	"context"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// Charge is what a journal says of one charge.
type Charge struct {
	imagegen.Charge
	Closed bool
	Used   imagegen.Credits
}

// Account is what a user's entries come to.
type Account struct {
	Entries []imagegen.Entry // the newest first
	Charges map[imagegen.ChargeID]Charge
	Balance imagegen.Credits
	Expired imagegen.Credits
}

// ReadJournal goes over the entries of one user, the newest first, as a ledger lists them: each charge is made
// once and then closed once, and what is not used of it comes back.
func ReadJournal(entries []imagegen.Entry, fact Fact) Account {
	a := Account{Entries: entries, Charges: map[imagegen.ChargeID]Charge{}}
	for _, e := range slices.Backward(entries) {
		a.Balance += e.Credits
		if a.Balance < 0 {
			fact(false, "%s has %d credits after entry %d", e.User, a.Balance, e.Seq)
		}
		switch e.Kind {
		case imagegen.EntryCharge:
			a.charge(e, fact)
		case imagegen.EntrySettle:
			a.settle(e, fact)
		case imagegen.EntryExpire:
			a.Expired -= e.Credits
		}
	}
	return a
}

func (a Account) charge(e imagegen.Entry, fact Fact) {
	_, twice := a.Charges[e.Charge]
	fact(!twice, "%s was charged twice", e.Charge)
	a.Charges[e.Charge] = Charge{Charge: imagegen.Charge{ID: e.Charge, User: e.User, Credits: -e.Credits,
		Member: e.Member}}
}

func (a Account) settle(e imagegen.Entry, fact Fact) {
	c, made := a.Charges[e.Charge]
	fact(made && !c.Closed, "%s was settled, and is not open", e.Charge)
	fact(e.Member == c.Member, "%s was charged for %q, and settled for %q", e.Charge, c.Member, e.Member)
	fact(e.Credits+e.Used == c.Credits, "%s: %d came back and %d were used of %d", e.Charge, e.Credits, e.Used,
		c.Credits)
	c.Closed, c.Used = true, e.Used
	a.Charges[e.Charge] = c
}

// Members says that what a ledger tells of each member's use, for limits and for bills, is what the journal of u says
// that u paid for it.
func (a Account) Members(ctx context.Context, books Books, u imagegen.UserID, members []imagegen.UserID, fact Fact) {
	use := map[imagegen.UserID]imagegen.KeyUse{}
	billed := map[imagegen.UserID]imagegen.UsageSums{}
	var q imagegen.UsageQuery
	for _, e := range a.Entries {
		if q.From.IsZero() || e.Time.Before(q.From) {
			q.From = e.Time
		}
		if e.Time.After(q.To) {
			q.To = e.Time
		}
	}
	for _, c := range a.Charges {
		sum, bill := use[c.Member], billed[c.Member]
		sum.Credits, bill.Charged = sum.Credits+c.Credits, bill.Charged+c.Credits
		if c.Closed {
			sum.Credits, bill.Refunded = sum.Credits-c.Credits+c.Used, bill.Refunded+c.Credits-c.Used
			bill.Spent += c.Used
		} else {
			sum.Concurrent++
		}
		use[c.Member], billed[c.Member] = sum, bill
	}
	for _, m := range members {
		q.Member = m
		of, err := books.MemberUse(ctx, u, m)
		of.Daily, of.Monthly = 0, 0 // which go by the day
		fact(err == nil && of == use[m], "%s paid %+v for %s, and the ledger says %+v: %v", u, use[m], m, of, err)
		rows, err := books.Usage(ctx, u, q)
		var sums imagegen.UsageSums
		for _, row := range rows {
			sums = imagegen.UsageSums{Charged: row.Charged, Refunded: row.Refunded, Spent: row.Spent}
		}
		fact(err == nil && sums == billed[m], "%s paid %+v for %s, and is billed %+v: %v", u, billed[m], m, sums, err)
	}
}
