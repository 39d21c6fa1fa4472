package signin

import (
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// pendingSignIn is the sign-in of somebody who has proved their identity, except by a passkey.
type pendingSignIn struct {
	User      imagegen.UserID
	Password  string    // the hash that was checked; createSignIn compares it again
	Confirmed time.Time // as for createSignIn
	Next      string    // the page to go to afterwards
	Message   string    // to show there; "": none
}

// signInOrAskPasskey signs a user in, or asks for a passkey first if the user has one. Every way to sign in ends here,
// whether by password, link or provider, so that none gets around the passkey.
func (s *Pages) signInOrAskPasskey(p *frame.Page, pending pendingSignIn) error {
	have, err := p.Logins.Passkeys(p.Context(), pending.User)
	if err != nil {
		return err
	}
	if len(have) == 0 {
		return s.completeSignIn(p, pending)
	}
	u, err := p.Engine.Accounts().User(p.Context(), pending.User)
	if err != nil {
		return err
	}
	ask, err := s.askForPasskey(p, toSignIn, u, have, ceremony{Pending: pending}, false)
	if err != nil {
		return err
	}
	return p.Render("passkey", ask)
}

// completeSignIn creates the sign-in and redirects.
func (s *Pages) completeSignIn(p *frame.Page, pending pendingSignIn) error {
	if err := s.createSignIn(p, pending.User, pending.Password, pending.Confirmed); err != nil {
		return err
	}
	if pending.Message != "" {
		p.SetFlash(pending.Message)
	}
	return p.RedirectTo(pending.Next)
}

// SignInByPasskey completes a sign-in for which signInOrAskPasskey has asked for a passkey. After a failure the user
// starts again with the password. A passkey that has verified its user is a confirmation; one that has not proves no
// more than that the device is there.
func (s *Pages) SignInByPasskey(p *frame.Page, f *form.Form) error {
	var k ceremony
	ok, err := p.Unseal(string(toSignIn), browserToken(p), f.Value(ceremonyField), &k)
	if err != nil {
		return err
	}
	if !ok {
		return signInAgain(p, "It took too long, or was done already. Sign in again.")
	}
	p.Detach() // once the use is recorded, finish the sign-in
	verified, err := s.verifyPasskey(p, f, k)
	if errors.Is(err, imagegen.ErrInvalidRequest) || errors.Is(err, imagegen.ErrNotFound) {
		return signInAgain(p, "The passkey was not accepted. Sign in again.")
	}
	if err != nil {
		return err
	}
	if verified {
		k.Pending.Confirmed = p.Now
	}
	k.Pending.User = k.User // whose passkey it is: nobody else can be signed in with it
	return s.completeSignIn(p, k.Pending)
}

// signInAgain shows the sign-in form with a message.
func signInAgain(p *frame.Page, why string) error {
	f := form.Filled()
	f.AddFault("", "%s", why)
	return p.RenderForms("signin", signInView{f, p.Root}, f)
}
