package console

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// pendingSignIn is the sign-in of somebody who has proved who they are, but for a passkey.
type pendingSignIn struct {
	user      imagegen.UserID
	password  string    // the hash that was checked
	confirmed time.Time // see Console.begin
	next      string    // where to go then
	message   string    // for the next page; "": none
}

// admit signs a user in; who has a passkey is asked for it first.
func (p *page) admit(e pendingSignIn) error {
	have, err := p.c.cfg.Logins.Passkeys(p.context(), e.user)
	if err != nil {
		return err
	}
	if len(have) == 0 {
		return p.completeSignIn(e)
	}
	u, err := p.c.cfg.Engine.Accounts().User(p.context(), e.user)
	if err != nil {
		return err
	}
	ask, err := p.askForPasskey(u, have, ceremony{pending: e}, false)
	if err != nil {
		return err
	}
	return p.render("passkey", ask)
}

func (p *page) completeSignIn(e pendingSignIn) error {
	if err := p.createSignIn(e.user, e.password, e.confirmed); err != nil {
		return err
	}
	if e.message != "" {
		p.setFlash(e.message)
	}
	return p.send(e.next)
}

// signInByPasskey ends a sign-in for which a passkey was asked.
func (c *Console) signInByPasskey(p *page) error {
	f, err := p.form()
	if err != nil {
		return err
	}
	k, ok := c.ceremonies.take(f.Value(ceremonyField), p.now)
	if !ok || k.purpose != toSignIn {
		return p.signInAnew("It took too long, or was done already. Sign in again.")
	}
	p.r = p.r.WithContext(context.WithoutCancel(p.context())) // a passkey that was used has signed in
	err = p.usedPasskey(f, k)
	if errors.Is(err, imagegen.ErrInvalidRequest) || errors.Is(err, imagegen.ErrNotFound) {
		return p.signInAnew("The passkey was not accepted. Sign in again.")
	}
	if err != nil {
		return err
	}
	k.pending.confirmed = p.now
	return p.completeSignIn(k.pending)
}

func (p *page) signInAnew(why string) error {
	f := filled()
	f.addFormFault("%s", why)
	return p.renderStatus(http.StatusUnprocessableEntity, "signin", signInView{f, p.c.cfg.Path})
}

// lacksPasskey reports whether the person is an operator who has to have a passkey, and has none.
func (p *page) lacksPasskey() (bool, error) {
	if !p.c.cfg.OperatorsNeedPasskey || !p.person.Operator() {
		return false, nil
	}
	have, err := p.c.cfg.Logins.Passkeys(p.context(), p.person.ID)
	return len(have) == 0, err
}

// sendForPasskey leads to where one is made.
func (p *page) sendForPasskey(err error) error {
	if err != nil {
		return err
	}
	return p.done("Operators need a passkey here. Make one first, below.", "account")
}
