package signin

import (
	"errors"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/seal"
)

// maxPasskeyName is the length of the longest name of a passkey, in characters.
const maxPasskeyName = 100

// newPasskeyView is the data of passkey-new.html.
type newPasskeyView struct {
	prompt
	Name string
}

// NewPasskey starts the ceremony in which the browser creates a passkey, and shows the page whose script carries it
// out.
func (s *Pages) NewPasskey(p *frame.Page, f *form.Form) error {
	have, err := p.Logins.Passkeys(p.Context(), p.Person.ID)
	if err != nil {
		return err
	}
	name := f.Value("passkey_name")
	switch {
	case name == "" || utf8.RuneCountInString(name) > maxPasskeyName:
		f.AddFault("passkey_name", "Give the passkey a name of up to %d characters, such as that of the device.",
			maxPasskeyName)
	case len(have) >= maxPasskeys:
		f.AddFault("passkey_name", "You have %d passkeys, and there can be no more. Remove one first.", len(have))
	}
	if !f.Valid() {
		return s.showAccount(p, f)
	}
	options, secret, err := s.Passkeys.BeginRegistration(p.Person.User, have)
	if err != nil {
		return err
	}
	sealed, err := p.Seal(string(toMakePasskey), p.Person.Owner(), seal.WaitTime,
		ceremony{User: p.Person.ID, Secret: secret, Name: name})
	if err != nil {
		return err
	}
	return p.Render("passkey-new", newPasskeyView{prompt{sealed, string(options)}, name})
}

// CreatePasskey stores the passkey that the browser has created. All other sign-ins of the user end: somebody who
// uses those has not proved to have the passkey.
func (s *Pages) CreatePasskey(p *frame.Page, f *form.Form) error {
	var k ceremony
	ok, err := p.Unseal(string(toMakePasskey), p.Person.Owner(), f.Value(ceremonyField), &k)
	if err != nil {
		return err
	}
	if !ok {
		return imagegen.Invalid("it took too long, or was done already; begin again")
	}
	made, err := s.Passkeys.FinishRegistration(p.Person.User, k.Secret, []byte(f.Secret(answerField)))
	if err == nil {
		err = consumeCeremony(p, f)
	}
	if err != nil {
		return err
	}
	// Once the passkey is stored, the other sign-ins must end, even if the browser hangs up.
	p.Detach()
	made.User, made.Name, made.CreatedAt = p.Person.ID, k.Name, p.Now
	err = p.Logins.CreatePasskey(p.Context(), made)
	if errors.Is(err, imagegen.ErrExists) {
		return imagegen.Invalid("this passkey is a user's already")
	}
	if err != nil {
		return err
	}
	if _, err := endSignIns(p, ""); err != nil {
		return err
	}
	return p.RedirectWith("The passkey “"+k.Name+"” is yours. You are asked for it when you sign in; "+
		"everywhere else you are signed out.", "account")
}

// RemovePasskey removes one of the person's passkeys. It succeeds if that is gone already.
func (s *Pages) RemovePasskey(p *frame.Page, f *form.Form) error {
	if f.Value("passkey") == "" { // the store would remove all passkeys if it were given none
		return imagegen.ErrNotFound
	}
	n, err := p.Logins.RemovePasskeys(p.Context(), p.Person.ID, account.PasskeyID(f.Value("passkey")))
	if err != nil {
		return err
	}
	if n == 0 {
		return p.RedirectWith("It is removed already.", "account")
	}
	return p.RedirectWith("The passkey is removed.", "account")
}
