package console

import (
	"net/http"
	"time"
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

// confirm reports whether the person has proved who they are; otherwise it asks. Who came by a link, and has neither
// a password nor is known to the provider, has nothing to be asked for.
func (p *page) confirm() (ok bool, err error) {
	if p.confirmedLately() {
		return true, nil
	}
	login, err := p.c.login(p.context(), p.person.ID)
	if err != nil {
		return false, err
	}
	connected, err := p.connected()
	if err != nil || login.Password == "" && !connected {
		return err == nil, err
	}
	f, err := p.form()
	if err != nil {
		return false, err
	}
	v := confirmView{Form: f, Name: p.person.Name, Password: login.Password != "", Connected: connected}
	if !v.Password || !f.values.Has(confirmation) {
		return false, p.askToConfirm(http.StatusForbidden, v)
	}
	if _, err = p.c.checkPassword(p, f, confirmation); err != nil {
		return false, err
	}
	if !f.valid() {
		return false, p.askToConfirm(http.StatusUnprocessableEntity, v)
	}
	return true, p.c.cfg.Logins.ConfirmSignIn(p.context(), p.person.signIn.Hash, p.now)
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
	Password  bool   // can be asked for
	Connected bool   // the provider can be asked
	Errand    string // the token of the form, which then waits here
	Here      string // where the form goes
	Kept      []entered
	Section   string // where it leads back to
}

// Asked is how long nobody is asked again.
func (confirmView) Asked() string { return count(int(confirmedFor/time.Minute), "minute", "minutes") }

func (p *page) askToConfirm(status int, v confirmView) error {
	v.Here, v.Kept, v.Section = p.r.URL.RequestURI(), keptFields(v.Form.values), p.route.section
	if v.Connected {
		v.Errand = p.c.errands.keep(errand{purpose: toConfirm, signIn: p.person.signIn.Hash, path: v.Here, kept: v.Kept}, p.now)
	}
	return p.renderStatus(status, "confirm", v)
}
