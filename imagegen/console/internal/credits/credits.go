// Package credits has the pages about credits: for their users and, of any user, for operators.
package credits

import (
	"embed"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

//go:embed templates
var sources embed.FS

// Templates are those of the pages.
var Templates = frame.Templates{Files: sources}

// creditsView is the data of credits.html.
type creditsView struct {
	Person  frame.Person
	Balance imagegen.Balance
	imagegen.Holdings
	Used   imagegen.KeyUse // of a member
	Spent  *spending
	Ledger ledgerView
}

// ledgerView is the data of the template "ledger".
type ledgerView struct {
	Of    string // the user whose ledger an operator sees, without prompts; "": the person's own
	CSV   string // the address of the whole ledger as a file
	Lines []ledgerLine
	Pager frame.Pager
}

// Credits shows the person's own account: balance, lots, what was spent, and the ledger. A member has no credits, and
// sees what its sponsor paid for it instead.
func Credits(p *frame.Page) (err error) {
	v := creditsView{Person: p.Person}
	if v.Balance, err = p.Service().Balance(p.Context()); err != nil {
		return err
	}
	if v.Holdings, err = p.Ledger.Holdings(p.Context(), p.Person.ID, frame.LotsShown); err != nil {
		return err
	}
	if p.Person.Sponsor != "" {
		if v.Used, err = p.Ledger.MemberUse(p.Context(), p.Person.Sponsor, p.Person.ID); err != nil {
			return err
		}
	}
	if v.Spent, err = newSpending(p); err != nil {
		return err
	}
	if v.Ledger, err = newLedgerView(p, p.Person.ID); err != nil {
		return err
	}
	v.Ledger.CSV = p.Address("credits", "ledger.csv")
	return p.Render("credits", v)
}

// newLedgerView returns the page of a user's ledger that the address asks for.
func newLedgerView(p *frame.Page, u imagegen.UserID) (v ledgerView, err error) {
	before, err := p.Before()
	if err != nil {
		return v, err
	}
	lines, next, err := ledgerLines(p, u, before)
	return ledgerView{Lines: lines, Pager: p.PagerBefore(next).At("ledger")}, err
}

// userLedgerView is the data of user-ledger.html.
type userLedgerView struct {
	User    imagegen.User
	Balance imagegen.Balance
	imagegen.Holdings
	Ledger ledgerView
}

// UserLedger shows an operator what happened to a user's credits, without prompts and images.
func UserLedger(p *frame.Page, u imagegen.User) (err error) {
	v := userLedgerView{User: u}
	if v.Balance, err = p.Ledger.Balance(p.Context(), u.ID); err != nil {
		return err
	}
	if v.Holdings, err = p.Ledger.Holdings(p.Context(), u.ID, 1); err != nil {
		return err
	}
	if v.Ledger, err = newLedgerView(p, u.ID); err != nil {
		return err
	}
	v.Ledger.Of, v.Ledger.CSV = u.Name, p.Address("users", string(u.ID), "ledger.csv")
	return p.Render("user-ledger", v)
}

// UserCSV sends a user's whole ledger to an operator.
func UserCSV(p *frame.Page, u imagegen.User) error { return sendLedger(p, u.ID) }
