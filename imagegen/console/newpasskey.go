package console

import (
	"context"
	"errors"
	"net/http"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// maxPasskeyName is the length of the longest name of a passkey, in characters.
const maxPasskeyName = 100

// newPasskeyView is the data of passkey-new.html.
type newPasskeyView struct {
	prompt
	Name string
}

// beginPasskey begins the ceremony in which the browser creates a passkey, and shows the page whose script carries it
// out.
func (c *Console) beginPasskey(p *page) error {
	if c.cfg.Passkeys == nil {
		return imagegen.ErrNotFound
	}
	f, err := p.form()
	if err != nil {
		return err
	}
	have, err := c.cfg.Logins.Passkeys(p.context(), p.person.ID)
	if err != nil {
		return err
	}
	name := f.Value("passkey_name")
	switch {
	case name == "" || utf8.RuneCountInString(name) > maxPasskeyName:
		f.addFault("passkey_name", "Give the passkey a name of up to %d characters, such as that of the device.", maxPasskeyName)
	case len(have) >= maxPasskeys:
		f.addFault("passkey_name", "You have %d passkeys, and there can be no more. Remove one first.", len(have))
	}
	if !f.valid() {
		return c.showAccount(p, http.StatusUnprocessableEntity, f)
	}
	options, secret, err := c.cfg.Passkeys.Create(p.person.User, have)
	if err != nil {
		return err
	}
	token := c.ceremonies.put(ceremony{purpose: toMakePasskey, user: p.person.ID, secret: secret, signIn: p.person.signIn.Hash, name: name}, p.now)
	return p.render("passkey-new", newPasskeyView{prompt{token, string(options)}, name})
}

// createPasskey stores the passkey that the browser has created. All other sign-ins of the user end: whoever uses
// those has not proved to have the passkey.
func (c *Console) createPasskey(p *page) error {
	if c.cfg.Passkeys == nil {
		return imagegen.ErrNotFound
	}
	f, err := p.form()
	if err != nil {
		return err
	}
	k, ok := c.ceremonies.take(f.Value(ceremonyField), p.now)
	if !ok || k.purpose != toMakePasskey || k.signIn != p.person.signIn.Hash {
		return imagegen.Invalid("it took too long, or was done already; begin again")
	}
	made, err := c.cfg.Passkeys.Created(p.person.User, k.secret, []byte(f.secret(answerField)))
	if err != nil {
		return err
	}
	// Once the passkey is stored, the other sign-ins must end, even if the browser hangs up.
	p.r = p.r.WithContext(context.WithoutCancel(p.context()))
	made.User, made.Name, made.CreatedAt = p.person.ID, k.name, p.now
	err = c.cfg.Logins.CreatePasskey(p.context(), made)
	if errors.Is(err, imagegen.ErrExists) {
		return imagegen.Invalid("this passkey is a user's already")
	}
	if err != nil {
		return err
	}
	if err := p.endOtherSignIns(); err != nil {
		return err
	}
	return p.done("The passkey “"+k.name+"” is yours. You are asked for it when you sign in; everywhere else you are signed out.", "account")
}

// endOtherSignIns ends all sign-ins of the person except this one.
func (p *page) endOtherSignIns() error {
	ss, err := p.c.cfg.Logins.SignIns(p.context(), p.person.ID)
	if err != nil {
		return err
	}
	others := p.among(ss, "")
	if len(others) == 0 { // the store would end all sign-ins if it were given none
		return nil
	}
	return p.c.cfg.Logins.EndSignIns(p.context(), p.person.ID, others...)
}

// removePasskey removes one of the person's passkeys. It succeeds if that is gone already.
func (c *Console) removePasskey(p *page) error {
	f, err := p.form()
	if err != nil {
		return err
	}
	if f.Value("passkey") == "" { // the store would remove all passkeys if it were given none
		return imagegen.ErrNotFound
	}
	n, err := c.cfg.Logins.RemovePasskeys(p.context(), p.person.ID, account.PasskeyID(f.Value("passkey")))
	if err != nil {
		return err
	}
	if n == 0 {
		return p.done("It is removed already.", "account")
	}
	return p.done("The passkey is removed.", "account")
}

// removeUserPasskeys removes all passkeys of a user who has lost them. Until they create another, their password
// alone signs them in.
func (c *Console) removeUserPasskeys(p *page) error {
	u, err := c.userAt(p)
	if err != nil {
		return err
	}
	if _, err := c.cfg.Logins.RemovePasskeys(p.context(), u.ID); err != nil {
		return err
	}
	return p.done(u.Name+" has no passkeys any more.", "users", string(u.ID))
}
