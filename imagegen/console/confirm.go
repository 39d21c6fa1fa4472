package console

import (
	"errors"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// confirmedFor is how long somebody who proved in a browser who they are is not asked again.
const confirmedFor = 5 * time.Minute

// confirmation is the field with the password that goes with a form which was sent without.
const confirmation = "confirm_password"

// confirmed has people prove who they are before h, unless they did a moment ago: who finds a browser open can
// change nothing that lasts. The form waits in the page that asks, so that nothing is entered twice.
func confirmed(h handle) handle {
	return func(c *Console, p *page) error {
		ok, err := p.confirm()
		if err != nil || !ok {
			return err
		}
		return h(c, p)
	}
}

// confirm reports whether the person has proved who they are; otherwise it asks. Who came by a link, and has
// nothing to prove it with, is not asked.
func (p *page) confirm() (ok bool, err error) {
	if p.confirmedLately() {
		return true, nil
	}
	v, have, err := p.proofs()
	if err != nil || !v.Password && !v.Connected && !v.Passkey {
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

// proofs tells by what the person can prove who they are.
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

// confirmByPasskey blames the form unless it is proved by one of the person's passkeys, asked for in this browser.
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

// confirmedLately does not believe what lies ahead of a clock that was put back.
func (p *page) confirmedLately() bool {
	age := p.now.Sub(p.person.signIn.ConfirmedAt)
	return age >= 0 && age < confirmedFor
}

// confirmView is what confirm.html is given.
type confirmView struct {
	Form      *form
	Name      string
	Password  bool // can be asked for
	Passkey   bool // can be used
	Prompt    prompt
	Connected bool   // the provider can be asked
	Pending   string // the token of the form, which then waits here
	Here      string // where the form goes
	Fields    []hiddenField
	Section   string // where it leads back to
}

// Asked is how long nobody is asked again.
func (confirmView) Asked() string { return count(int(confirmedFor/time.Minute), "minute", "minutes") }

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
