package signin

import (
	"errors"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/seal"
)

// confirmedFor is how long a confirmation counts in the browser in which it was given.
const confirmedFor = 5 * time.Minute

// confirmation is the name of the field with the password, on the page that asks for it.
const confirmation = "confirm_password"

// Confirmed wraps a handler: unless the person proved their identity in this browser within confirmedFor, they are
// asked to before h runs. So somebody who finds a browser open cannot change anything of consequence. The page that
// asks carries the fields of the form along, so nothing has to be entered twice.
func (s *Pages) Confirmed(h frame.Handler) frame.Handler {
	return func(p *frame.Page) error {
		ok, err := s.proveIdentity(p)
		if err != nil || !ok {
			return err
		}
		return h(p)
	}
}

// proveIdentity reports whether the person has proved their identity. If not, it has answered with a page that asks.
// Somebody who has neither a password nor a passkey nor a connected provider, having come by a link, is not asked.
//
// The form that comes back has the fields of the original one and the proof. If the proof is right, the time is
// stored with the sign-in, and the handler goes on with the same form.
func (s *Pages) proveIdentity(p *frame.Page) (ok bool, err error) {
	// A confirmation in the future, as after the clock was set back, does not count: it would for too long.
	if age := p.Now.Sub(p.Person.SignIn.ConfirmedAt); age >= 0 && age < confirmedFor {
		return true, nil
	}
	v, have, err := s.availableProofs(p)
	if err != nil || !v.Password && !v.Connected && !v.Passkey { // there is nothing to ask for
		return err == nil, err
	}
	if v.Form, err = p.Form(); err != nil {
		return false, err
	}
	switch {
	case v.Password && v.Form.Values.Has(confirmation):
		_, err = s.checkPassword(p, v.Form, confirmation)
	case v.Passkey && v.Form.Values.Has(answerField):
		err = s.confirmByPasskey(p, v.Form)
	default:
		return false, s.askToConfirm(p, http.StatusForbidden, v, have)
	}
	if err != nil {
		return false, err
	}
	if !v.Form.Valid() {
		return false, s.askToConfirm(p, http.StatusUnprocessableEntity, v, have)
	}
	return true, p.Logins.ConfirmSignIn(p.Context(), p.Person.SignIn.Hash, p.Now)
}

// availableProofs finds out by what means the person can prove their identity, and returns their passkeys.
func (s *Pages) availableProofs(p *frame.Page) (v confirmView, have []account.Passkey, err error) {
	login, err := p.Login(p.Context(), p.Person.ID)
	if err != nil {
		return v, nil, err
	}
	v = confirmView{Name: p.Person.Name, Password: login.Password != ""}
	if have, err = p.Logins.Passkeys(p.Context(), p.Person.ID); err != nil {
		return v, nil, err
	}
	v.Passkey = len(have) > 0 && s.Passkeys != nil
	v.Connected, err = s.connected(p)
	return v, have, err
}

// confirmByPasskey checks the answer of a passkey. The form has a fault unless the answer comes from one of the
// person's passkeys, for a ceremony that was begun for a confirmation in this browser.
func (s *Pages) confirmByPasskey(p *frame.Page, f *form.Form) error {
	var k ceremony
	ok, err := p.Unseal(string(toConfirm), p.Person.Owner(), f.Value(ceremonyField), &k)
	if err != nil {
		return err
	}
	if !ok {
		f.AddFault("", "It took too long, or was done already. Use the passkey again.")
		return nil
	}
	_, err = s.verifyPasskey(p, f, k)
	if errors.Is(err, imagegen.ErrNotFound) {
		err = imagegen.Invalid("the passkey was removed meanwhile")
	}
	return f.AddError("", err)
}

// confirmView is the data of confirm.html.
type confirmView struct {
	Form      *form.Form
	Name      string
	Password  bool                // the person can enter their password
	Passkey   bool                // they can use a passkey, by Prompt
	Prompt    prompt              // of the passkey
	Connected bool                // they can confirm at the identity provider
	Pending   string              // the form, sealed
	Here      string              // the address that the form is sent to
	Fields    []frame.HiddenField // the fields of the original form
	Section   string              // the page that Cancel leads to
}

// askToConfirm answers with the page that asks. A passkey must verify its user: possession of the device alone proves
// no more than the open browser did.
func (s *Pages) askToConfirm(p *frame.Page, status int, v confirmView, have []account.Passkey) (err error) {
	v.Here, v.Fields, v.Section = p.Request.URL.RequestURI(), carriedFields(v.Form), p.Route.Section
	if v.Connected {
		action := pendingAction{toConfirm, v.Here, v.Fields}
		if action.tooLarge() { // it can go nowhere; nor would it be accepted
			return imagegen.Invalid("the form is too large; shorten what you entered")
		}
		if v.Pending, err = p.Seal(pendingKind, p.Person.Owner(), seal.WaitTime, action); err != nil {
			return err
		}
	}
	if v.Passkey {
		if v.Prompt, err = s.askForPasskey(p, toConfirm, p.Person.User, have, ceremony{}, true); err != nil {
			return err
		}
	}
	return p.RenderStatus(status, "confirm", v)
}
