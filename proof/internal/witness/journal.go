package witness

import (
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
	a.Charges[e.Charge] = Charge{Charge: imagegen.Charge{ID: e.Charge, User: e.User, Credits: -e.Credits}}
}

func (a Account) settle(e imagegen.Entry, fact Fact) {
	c, made := a.Charges[e.Charge]
	fact(made && !c.Closed, "%s was settled, and is not open", e.Charge)
	fact(e.Credits+e.Used == c.Credits, "%s: %d came back and %d were used of %d", e.Charge, e.Credits, e.Used,
		c.Credits)
	c.Closed, c.Used = true, e.Used
	a.Charges[e.Charge] = c
}
