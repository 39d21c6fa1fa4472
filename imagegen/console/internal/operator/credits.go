package operator

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// Grant grants credits to a user. A reference that already stands for a grant of the same terms is not a mistake: the
// page says that it was granted before. One that stands for something else is a fault of the form.
func Grant(p *frame.Page, u imagegen.User, f *form.Form) error {
	g := imagegen.Grant{User: u.ID, Credits: f.Credits("credits"), Promo: f.Value("promo") != "",
		Priority: imagegen.DefaultPriority, Expires: f.LastDay("expires", p.Now), Ref: readReference(f, "ref")}
	var granted imagegen.Granted
	var err error
	if f.Valid() {
		if err = p.Engine.CheckGrant(p.Context(), u.ID); err == nil {
			granted, err = p.Ledger.Grant(p.Context(), g)
		}
		// The reference has been used for something else if the ledger says so, or if what it returns has other terms:
		// the ledger compares only user and amount, and returns the existing lot whatever its other terms are.
		same := granted.Expires.Equal(g.Expires) && granted.Promo == g.Promo && granted.Priority == g.Priority
		if err == nil && !same || errors.Is(err, imagegen.ErrGrantConflict) {
			addReferenceFault(f, "ref", "Nothing was granted now.")
		} else if err = f.AddError("credits", err); err != nil {
			return err
		}
	}
	if !f.Valid() {
		return showUser(p, u, userForms{Grant: f})
	}
	done := fmt.Sprintf("Granted to %s: %s.", u.Name, format.Amount(g.Credits))
	if granted.Repeated {
		done = fmt.Sprintf("%s granted to %s already, at %s. Nothing was granted now.",
			wereCredits(g.Credits), u.Name, format.Moment(granted.Effective))
	}
	return redirectWithBalance(p, u, done)
}

// redirectWithBalance leads back to a user's page, which says what was done and the balance.
func redirectWithBalance(p *frame.Page, u imagegen.User, done string) error {
	b, err := p.Ledger.Balance(p.Context(), u.ID)
	if err != nil {
		return err
	}
	return p.RedirectWith(done+" The balance is "+format.Credits(b.Credits)+".", "users", string(u.ID))
}

// wereCredits begins a sentence such as: 5 credits were granted.
func wereCredits(n imagegen.Credits) string {
	return format.Amount(n) + " " + format.Plural(n, "was", "were")
}

// readReference reads the reference that makes a grant or a revocation idempotent: the entered one, or else the form's
// own.
func readReference(f *form.Form, name string) string {
	ref := cmp.Or(f.Value(name), f.Value("once"))
	if len(ref) > 255 || strings.Contains(ref, "\x00") {
		f.AddFault(name, "A reference is at most 255 bytes of text.")
	}
	return ref
}

// addReferenceFault adds a fault for a reference that stands for another grant or revocation. If the reference was the
// form's own, the form was sent before with other content, and gets a new one, so that sending it again counts.
func addReferenceFault(f *form.Form, name, outcome string) {
	if f.Value(name) != "" {
		f.AddFault(name, "This reference was used before, for another grant or revocation. %s", outcome)
		return
	}
	f.AddFault("", "This form was sent before, for another grant or revocation, and that one stands. "+
		"Send it again if you mean one more.")
	f.Values.Set("once", form.NewToken())
}

// RevokeCredits takes unspent credits back from a user, all that were entered or none. Its reference makes it
// idempotent, as for a grant.
func RevokeCredits(p *frame.Page, u imagegen.User, f *form.Form) error {
	r := imagegen.Revocation{User: u.ID, Credits: f.Credits("revoke_credits"), Lot: f.Value("revoke_lot"),
		Ref: readReference(f, "revoke_ref")}
	var revoked imagegen.Revoked
	if f.Valid() {
		var err error
		revoked, err = p.Ledger.Revoke(p.Context(), r)
		switch {
		case errors.Is(err, imagegen.ErrGrantConflict):
			addReferenceFault(f, "revoke_ref", "Nothing was taken back now.")
		case errors.Is(err, imagegen.ErrInsufficientCredits):
			f.AddFault("revoke_credits", "%s", insufficientCredits(r.Lot))
		default:
			if err = f.AddError("revoke_credits", err); err != nil {
				return err
			}
		}
	}
	if !f.Valid() {
		return showUser(p, u, userForms{Revoke: f})
	}
	done := fmt.Sprintf("Taken back from %s: %s.", u.Name, format.Amount(r.Credits))
	if revoked.Repeated {
		done = fmt.Sprintf("%s taken back from %s already, at %s. Nothing was taken back now.",
			wereCredits(r.Credits), u.Name, format.Moment(revoked.Time))
	}
	return redirectWithBalance(p, u, done)
}

// insufficientCredits says why so many credits cannot be taken back, from a lot or, for "", from the account.
func insufficientCredits(lot string) string {
	where := "there"
	if lot != "" {
		where = "left of that grant"
	}
	return "So many are not " + where +
		". What is spent, or held by work under way, cannot be taken back; nothing was changed."
}

// Lots are the choices of what to take credits back from: the account as a whole, or one of the lots on the page.
func (v userView) Lots() []form.Option {
	all := form.Options("", "In the order in which they are spent")
	for _, l := range v.Holdings.Lots {
		label := format.Credits(l.Remaining) + " left of " + format.Credits(l.Granted) + ", " + format.Day(l.Effective)
		if ref := form.EnteredReference(l.Ref); ref != "" {
			label += ", " + ref
		}
		all = append(all, form.Options(l.ID, label)...)
	}
	return all
}
