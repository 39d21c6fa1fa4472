package console

import "github.com/imagegend/imagegend/imagegen"

// userLedgerView is the data of user-ledger.html.
type userLedgerView struct {
	User    imagegen.User
	Balance imagegen.Balance
	Held    imagegen.Credits
	Ledger  ledgerView
}

// userLedger shows an operator what happened to a user's credits, without prompts and images. As in userGenerations,
// the look is recorded first.
func (c *Console) userLedger(p *page) error {
	u, err := c.userAt(p)
	if err != nil {
		return err
	}
	if err := p.viewed(u); err != nil {
		return err
	}
	v := userLedgerView{User: u}
	if v.Balance, err = c.cfg.Ledger.Balance(p.context(), u.ID); err != nil {
		return err
	}
	holdings, err := c.cfg.Ledger.Holdings(p.context(), u.ID, 1)
	if err != nil {
		return err
	}
	v.Held = holdings.Held
	if v.Ledger, err = c.ledger(p, u.ID); err != nil {
		return err
	}
	v.Ledger.Of, v.Ledger.CSV = u.Name, c.path("users", string(u.ID), "ledger.csv")
	return p.render("user-ledger", v)
}

// userLedgerCSV sends a user's whole ledger to an operator, and records that first.
func (c *Console) userLedgerCSV(p *page) error {
	u, err := c.userAt(p)
	if err != nil {
		return err
	}
	if err := p.viewed(u); err != nil {
		return err
	}
	return c.sendLedger(p, u.ID)
}
