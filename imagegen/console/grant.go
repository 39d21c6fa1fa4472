package console

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// oncePrefix begins a reference that the console generated, so that it is not shown as if somebody had entered it.
const oncePrefix = "console-"

// formToken returns a reference for a form. With it a form that is sent twice, by a reload or a second press of the
// button, counts once.
func formToken() string { return oncePrefix + rand.Text() }

// grant grants credits to a user. A reference that already stands for a grant of the same terms is no mistake: the
// page says that it was granted before. One that stands for something else is a fault of the form.
func (c *Console) grant(p *page) error {
	u, err := c.userAt(p)
	if err != nil {
		return err
	}
	f, err := p.form()
	if err != nil {
		return err
	}
	g := f.grant(u.ID, p.now)
	var granted imagegen.Granted
	if f.valid() {
		// The reference has been used for something else if the ledger says so, or if what it returns has other terms.
		granted, err = c.cfg.Ledger.Grant(p.context(), g)
		if err == nil && !stands(granted, g) || errors.Is(err, imagegen.ErrGrantConflict) {
			f.usedBefore("ref", "Nothing was granted now.")
		} else if err = f.refuse("credits", err); err != nil {
			return err
		}
	}
	if !f.valid() {
		return c.showUser(p, http.StatusUnprocessableEntity, u, userForms{Grant: f})
	}
	b, err := c.cfg.Ledger.Balance(p.context(), u.ID)
	if err != nil {
		return err
	}
	done := fmt.Sprintf("Granted to %s: %s.", u.Name, inCredits(g.Credits))
	if granted.Repeated {
		done = fmt.Sprintf("%s granted to %s already, at %s. Nothing was granted now.", wereCredits(g.Credits), u.Name, moment(granted.Effective))
	}
	return p.done(done+" The balance is "+credits(b.Credits)+".", "users", string(u.ID))
}

// stands reports whether the lot under the reference has the terms that were asked for. The ledger compares only user
// and amount, and returns the existing lot whatever its other terms are.
func stands(granted imagegen.Granted, g imagegen.Grant) bool {
	return granted.Expires.Equal(g.Expires) && granted.Promo == g.Promo && granted.Priority == g.Priority
}

// wereCredits begins a sentence such as: 5 credits were granted.
func wereCredits(n imagegen.Credits) string { return inCredits(n) + " " + plural(n, "was", "were") }

// grant reads the form of a grant.
func (f *form) grant(u imagegen.UserID, now time.Time) imagegen.Grant {
	return imagegen.Grant{User: u, Credits: f.amount("credits"), Promo: f.Value("promo") != "", Priority: imagegen.DefaultPriority,
		Expires: f.lastDay("expires", now), Ref: f.reference("ref")}
}

// reference reads the reference that makes a grant or a revocation idempotent: the entered one, or else the form's own.
func (f *form) reference(name string) string {
	ref := cmp.Or(f.Value(name), f.Value("once"))
	if len(ref) > 255 || strings.Contains(ref, "\x00") {
		f.addFault(name, "A reference is at most 255 bytes of text.")
	}
	return ref
}

// wholeNumber matches digits, with commas only as separators of thousands: whoever enters 1,5 does not mean fifteen.
var wholeNumber = regexp.MustCompile(`^(\d+|\d{1,3}(,\d{3})+)$`)

// amount reads a number of credits. If that is no valid amount, the field has a fault.
func (f *form) amount(name string) imagegen.Credits {
	written := f.Value(name)
	n, err := strconv.ParseInt(strings.ReplaceAll(written, ",", ""), 10, 64)
	if err != nil || !wholeNumber.MatchString(written) || !imagegen.Credits(n).Valid() {
		f.addFault(name, "Enter a whole number of credits, from 1 to %s.", credits(imagegen.MaxCredits))
	}
	return imagegen.Credits(n)
}

// lastDay reads a day that is not over yet, and returns the midnight with which it ends, in UTC; zero if none was
// entered.
func (f *form) lastDay(name string, now time.Time) time.Time {
	const never = 2200 // beyond it one may as well enter no day; the ledger cannot keep the year 2263
	if f.Value(name) == "" {
		return time.Time{}
	}
	day, err := time.Parse(time.DateOnly, f.Value(name))
	end := day.AddDate(0, 0, 1)
	if err != nil || !end.After(now) || end.Year() > never {
		f.addFault(name, "Enter a day that is not over, such as %d-12-31.", now.Year()+1)
	}
	return end
}

// usedBefore adds a fault for a reference that stands for another grant or revocation. If the reference was the
// form's own, the form was sent before with other content, and gets a new one, so that sending it again counts.
func (f *form) usedBefore(name, outcome string) {
	if f.Value(name) != "" {
		f.addFault(name, "This reference was used before, for another grant or revocation. %s", outcome)
		return
	}
	f.addFormFault("This form was sent before, for another grant or revocation, and that one stands. Send it again if you mean one more.")
	f.values.Set("once", formToken())
}
