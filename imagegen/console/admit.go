package console

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// pendingSignIn is the sign-in of somebody who has proved their identity, except by a passkey.
type pendingSignIn struct {
	user      imagegen.UserID
	password  string    // the hash that was checked; createSignIn compares it again
	confirmed time.Time // as for createSignIn
	next      string    // the page to go to afterwards
	message   string    // to show there; "": none
}

// admit signs a user in, or asks for a passkey first if the user has one. Every way to sign in ends here, whether by
// password, link or provider, so that none gets around the passkey.
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

// completeSignIn creates the sign-in and redirects.
func (p *page) completeSignIn(e pendingSignIn) error {
	if err := p.createSignIn(e.user, e.password, e.confirmed); err != nil {
		return err
	}
	if e.message != "" {
		p.setFlash(e.message)
	}
	return p.send(e.next)
}

// signInByPasskey completes a sign-in for which admit has asked for a passkey. The ceremony is used up in any case;
// after a failure the user starts again with the password.
func (c *Console) signInByPasskey(p *page) error {
	f, err := p.form()
	if err != nil {
		return err
	}
	k, ok := c.ceremonies.take(f.Value(ceremonyField), p.now)
	if !ok || k.purpose != toSignIn {
		return p.signInAnew("It took too long, or was done already. Sign in again.")
	}
	p.r = p.r.WithContext(context.WithoutCancel(p.context())) // once the use is recorded, finish the sign-in
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

// signInAnew shows the sign-in form with a message.
func (p *page) signInAnew(why string) error {
	f := filled()
	f.addFormFault("%s", why)
	return p.renderStatus(http.StatusUnprocessableEntity, "signin", signInView{f, p.c.cfg.Path})
}

// lacksPasskey reports whether the person is an operator who must have a passkey and has none.
func (p *page) lacksPasskey() (bool, error) {
	if !p.c.cfg.OperatorsNeedPasskey || !p.person.Operator() {
		return false, nil
	}
	have, err := p.c.cfg.Logins.Passkeys(p.context(), p.person.ID)
	return len(have) == 0, err
}

// sendForPasskey redirects to the account page, where a passkey can be created. It returns err if that is not nil.
func (p *page) sendForPasskey(err error) error {
	if err != nil {
		return err
	}
	return p.done("Operators need a passkey here. Make one first, below.", "account")
}
