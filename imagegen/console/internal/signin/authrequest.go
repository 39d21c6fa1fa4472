package signin

import (
	"bytes"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/seal"
)

// authRequest is a browser that was sent to the identity provider. It is sealed into a cookie: so an answer of the
// provider counts only in the browser that asked, within seal.WaitTime, and once.
type authRequest struct {
	Secret []byte        // for Provider.Finish
	SignIn []byte        // toConnect, toConfirm: the sign-in that asked, which must also be the one that comes back
	Action pendingAction // what to do afterwards
}

// purpose is why somebody proves who they are.
type purpose string

const (
	// toSignIn: nobody is signed in yet, or they sign in anew.
	toSignIn purpose = "sign in"
	// toConnect: the person wants to sign in by the provider from now on.
	toConnect purpose = "connect"
	// toConfirm: an action of the person needs a fresh proof; see confirmed.
	toConfirm purpose = "confirm"
	// toMakePasskey: the person creates a passkey. Only ceremonies have this purpose.
	toMakePasskey purpose = "make a passkey"
)

// authCookie names the cookie with an authRequest; sealed, it is of the same kind.
const authCookie = "visit"

// RedirectToProvider sends a browser to the provider, to sign in or for the pending action that the address names. It
// is a GET, since form-action in the Content-Security-Policy lets no form lead to another host.
func (s *Pages) RedirectToProvider(p *frame.Page) error {
	v := authRequest{Action: pendingAction{Purpose: toSignIn, Path: p.Local(p.Query().Get("next"))}}
	if v.Action.tooLarge() {
		v.Action.Path = p.Root
	}
	if sealed := p.Query().Get("pending"); sealed != "" {
		v.SignIn = p.Person.SignIn.Hash[:]
		ok, err := p.Unseal(pendingKind, p.Person.Owner(), sealed, &v.Action)
		if err != nil {
			return err
		}
		if !ok {
			return imagegen.Invalid("what you asked for waited too long; do it again")
		}
	}
	return s.sendToProvider(p, v)
}

// sendToProvider redirects to the provider. Somebody who confirms must authenticate anew there.
func (s *Pages) sendToProvider(p *frame.Page, v authRequest) error {
	address, secret, err := s.IdentityProvider.Begin(p.Context(), callback(p), v.Action.Purpose == toConfirm)
	if err != nil {
		return err
	}
	v.Secret = secret
	sealed, err := p.Seal(authCookie, "", seal.WaitTime, v)
	if err != nil {
		return err
	}
	p.SetCookie(authCookie, sealed, seal.WaitTime)
	return p.RedirectTo(address)
}

// callback is the address to which the provider sends browsers back. It must be registered there.
func callback(p *frame.Page) string { return p.Origin() + p.Address("signin/provider/callback") }

// ProviderCallback answers a browser that comes back from the provider. The cookie is removed in any case, and
// a visit that succeeded is used up.
func (s *Pages) ProviderCallback(p *frame.Page) error {
	var v authRequest
	cookie, ok := p.Cookie(authCookie)
	if ok {
		p.RemoveCookie(authCookie)
		var err error
		if ok, err = p.Unseal(authCookie, "", cookie, &v); err != nil {
			return err
		}
	}
	stale := imagegen.Invalid("this sign-in was used already, took too long, or was begun in another browser; begin again")
	// A sign-in may be completed no matter who is signed in here now; anything else only by the sign-in that began it.
	if !ok || v.Action.Purpose != toSignIn && !bytes.Equal(v.SignIn, p.Person.SignIn.Hash[:]) {
		p.CountFailedSignIn("")
		return stale
	}
	identity, err := s.IdentityProvider.Finish(p.Context(), v.Secret, p.Query())
	if err == nil {
		if ok, err = p.UsedFirst(cookie); err == nil && !ok {
			err = stale
		}
	}
	if err != nil {
		p.CountFailedSignIn("")
		p.Log.WarnContext(p.Context(), "a sign-in by the provider was refused",
			"issuer", s.IdentityProvider.Issuer(), "error", err)
		return err
	}
	// The provider's answer is used up: finish even if the browser hangs up.
	p.Detach()
	switch v.Action.Purpose {
	case toConnect:
		return s.connectIdentity(p, identity)
	case toConfirm:
		return s.confirmedByProvider(p, v.Action, identity)
	}
	return s.signInAs(p, identity, v.Action.Path)
}
