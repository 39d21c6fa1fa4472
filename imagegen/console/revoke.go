package console

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
)

// revokeCredits takes unspent credits back from a user, all that were entered or none. Its reference makes it
// idempotent, as for a grant.
func (c *Console) revokeCredits(p *page) error {
	u, err := c.userAt(p)
	if err != nil {
		return err
	}
	f, err := p.form()
	if err != nil {
		return err
	}
	r := imagegen.Revocation{User: u.ID, Credits: f.amount("revoke_credits"), Lot: f.Value("revoke_lot"), Ref: f.reference("revoke_ref")}
	var revoked imagegen.Revoked
	if f.valid() {
		revoked, err = c.cfg.Ledger.Revoke(p.context(), r)
		switch {
		case errors.Is(err, imagegen.ErrGrantConflict):
			f.usedBefore("revoke_ref", "Nothing was taken back now.")
		case errors.Is(err, imagegen.ErrInsufficientCredits):
			f.addFault("revoke_credits", "%s", tooFewThere(r.Lot))
		default:
			if err = f.refuse("revoke_credits", err); err != nil {
				return err
			}
		}
	}
	if !f.valid() {
		return c.showUser(p, http.StatusUnprocessableEntity, u, userForms{Revoke: f})
	}
	b, err := c.cfg.Ledger.Balance(p.context(), u.ID)
	if err != nil {
		return err
	}
	done := fmt.Sprintf("Taken back from %s: %s.", u.Name, inCredits(r.Credits))
	if revoked.Repeated {
		done = fmt.Sprintf("%s taken back from %s already, at %s. Nothing was taken back now.", wereCredits(r.Credits), u.Name, moment(revoked.Time))
	}
	return p.done(done+" The balance is "+credits(b.Credits)+".", "users", string(u.ID))
}

// tooFewThere says why so many credits cannot be taken back, from a lot or, for "", from the account.
func tooFewThere(lot string) string {
	where := "there"
	if lot != "" {
		where = "left of that grant"
	}
	return "So many are not " + where + ". What is spent, or held by work under way, cannot be taken back; nothing was changed."
}

// Lots are the choices of what to take credits back from: the account as a whole, or one of the lots on the page.
func (v userView) Lots() []option {
	all := []option{{"", "In the order in which they are spent"}}
	for _, l := range v.Holdings.Lots {
		label := credits(l.Remaining) + " left of " + credits(l.Granted) + ", " + dayOf(l.Effective)
		if ref := reference(l.Ref); ref != "" {
			label += ", " + ref
		}
		all = append(all, option{l.ID, label})
	}
	return all
}
