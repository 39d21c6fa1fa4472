package console

import (
	"errors"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// confirmedFor is how long a confirmation counts in the browser in which it was given.
const confirmedFor = 5 * time.Minute

// confirmation is the name of the field with the password, on the page that asks for it.
const confirmation = "confirm_password"

// confirmed wraps a handler: unless the person proved their identity in this browser within confirmedFor, they are
// asked to before h runs. So whoever finds a browser open cannot change anything of consequence. The page that asks
// carries the fields of the form along, so nothing has to be entered twice.
func confirmed(h handle) handle {
	return func(c *Console, p *page) error {
		ok, err := p.confirm()
		if err != nil || !ok {
			return err
		}
		return h(c, p)
	}
}

// confirm reports whether the person has proved their identity. If not, it has answered with a page that asks.
// Somebody who has neither a password nor a passkey nor a connected provider, having come by a link, is not asked.
//
// The form that comes back has the fields of the original one and the proof. If the proof is right, the time is
// stored with the sign-in, and the handler goes on with the same form.
func (p *page) confirm() (ok bool, err error) {
	if p.confirmedLately() {
		return true, nil
	}
	v, have, err := p.proofs()
	if err != nil || !v.Password && !v.Connected && !v.Passkey { // there is nothing to ask for
		return err == nil, err
	}
	if v.Form, err = p.form(); err != nil {
		return false, err
	}
	switch {
	case v.Password && v.Form.values.Has(confirmation):
		_, err = p.c.checkPassword(p, v.Form, confirmation)
	case v.Passkey && v.Form.values.Has(answerField):
		err = p.confirmByPasskey(v.Form)
	default:
		return false, p.askToConfirm(http.StatusForbidden, v, have)
	}
	if err != nil {
		return false, err
	}
	if !v.Form.valid() {
		return false, p.askToConfirm(http.StatusUnprocessableEntity, v, have)
	}
	return true, p.c.cfg.Logins.ConfirmSignIn(p.context(), p.person.signIn.Hash, p.now)
}

// proofs finds out by what means the person can prove their identity, and returns their passkeys.
func (p *page) proofs() (v confirmView, have []account.Passkey, err error) {
	login, err := p.c.login(p.context(), p.person.ID)
	if err != nil {
		return v, nil, err
	}
	v = confirmView{Name: p.person.Name, Password: login.Password != ""}
	if have, err = p.c.cfg.Logins.Passkeys(p.context(), p.person.ID); err != nil {
		return v, nil, err
	}
	v.Passkey = len(have) > 0 && p.c.cfg.Passkeys != nil
	v.Connected, err = p.connected()
	return v, have, err
}

// confirmByPasskey checks the answer of a passkey. The form has a fault unless the answer comes from one of the
// person's passkeys, for a ceremony that was begun for a confirmation in this browser.
func (p *page) confirmByPasskey(f *form) error {
	k, ok := p.c.ceremonies.take(f.Value(ceremonyField), p.now)
	if !ok || k.purpose != toConfirm || k.signIn != p.person.signIn.Hash {
		f.addFormFault("It took too long, or was done already. Use the passkey again.")
		return nil
	}
	err := p.usedPasskey(f, k)
	if errors.Is(err, imagegen.ErrNotFound) {
		err = imagegen.Invalid("the passkey was removed meanwhile")
	}
	return f.refuse("", err)
}

// confirmedLately reports whether the last confirmation still counts. One in the future, as after the clock was set
// back, does not: it would count for too long.
func (p *page) confirmedLately() bool {
	age := p.now.Sub(p.person.signIn.ConfirmedAt)
	return age >= 0 && age < confirmedFor
}

// confirmView is the data of confirm.html.
type confirmView struct {
	Form      *form
	Name      string
	Password  bool          // the person can enter their password
	Passkey   bool          // they can use a passkey, by Prompt
	Prompt    prompt        // of the passkey
	Connected bool          // they can confirm at the identity provider
	Pending   string        // the token of the form, which then waits in memory
	Here      string        // the address that the form is sent to
	Fields    []hiddenField // the fields of the original form
	Section   string        // the page that Cancel leads to
}

// Asked is how long a confirmation counts, in words.
func (confirmView) Asked() string { return count(int(confirmedFor/time.Minute), "minute", "minutes") }

// askToConfirm answers with the page that asks. A passkey must verify its user: possession of the device alone proves
// no more than the open browser did.
func (p *page) askToConfirm(status int, v confirmView, have []account.Passkey) (err error) {
	v.Here, v.Fields, v.Section = p.r.URL.RequestURI(), hiddenFields(v.Form.values), p.route.section
	if v.Connected {
		v.Pending = p.c.pendingActions.put(pendingAction{purpose: toConfirm, signIn: p.person.signIn.Hash, path: v.Here, fields: v.Fields}, p.now)
	}
	if v.Passkey {
		k := ceremony{purpose: toConfirm, signIn: p.person.signIn.Hash}
		if v.Prompt, err = p.askForPasskey(p.person.User, have, k, true); err != nil {
			return err
		}
	}
	return p.renderStatus(status, "confirm", v)
}
