package console

import (
	"context"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// authRequest is a browser that was sent to the identity provider. It waits in memory for waitTime, under a token that
// only this browser has, in a cookie: so an answer of the provider counts only in the browser that asked, and once.
type authRequest struct {
	purpose purpose
	signIn  [32]byte      // toConnect, toConfirm: the sign-in that asked, which must also be the one that comes back
	secret  []byte        // for Provider.Finish
	next    string        // toSignIn: the page to go to afterwards
	action  pendingAction // toConfirm: what to do afterwards
}

// purpose is why somebody proves who they are.
type purpose int

const (
	// toSignIn: nobody is signed in yet, or they sign in anew.
	toSignIn purpose = iota
	// toConnect: the person wants to sign in by the provider from now on.
	toConnect
	// toConfirm: an action of the person needs a fresh proof; see confirmed.
	toConfirm
	// toMakePasskey: the person creates a passkey. Only ceremonies have this purpose.
	toMakePasskey
)

// authCookie names the cookie with the token of an authRequest.
const authCookie = "visit"

// goToProvider sends a browser to the provider, to sign in or for the pending action that the address names. It is a
// GET, since form-action in the Content-Security-Policy lets no form lead to another host.
func (c *Console) goToProvider(p *page) error {
	v := authRequest{next: c.local(p.r.URL.Query().Get("next"))}
	if token := p.r.URL.Query().Get("pending"); token != "" {
		var ok bool
		if v.action, ok = c.pendingActions.take(token, p.now); !ok || v.action.signIn != p.person.signIn.Hash {
			return imagegen.Invalid("what you asked for waited too long; do it again")
		}
		v.purpose, v.signIn = v.action.purpose, v.action.signIn
	}
	if c.cfg.Provider == nil {
		return imagegen.ErrNotFound
	}
	return p.sendToProvider(v)
}

// sendToProvider redirects to the provider. Somebody who confirms must authenticate anew there.
func (p *page) sendToProvider(v authRequest) error {
	address, secret, err := p.c.cfg.Provider.Begin(p.context(), p.callback(), v.purpose == toConfirm)
	if err != nil {
		return err
	}
	v.secret = secret
	http.SetCookie(p.w, p.c.cookie(authCookie, p.c.authRequests.put(v, p.now), int(waitTime/time.Second)))
	return p.send(address)
}

// callback is the address to which the provider sends browsers back. It must be registered there.
func (p *page) callback() string { return p.origin() + p.c.path("signin/provider/callback") }

// providerCallback answers a browser that comes back from the provider. The token is used up first, whatever comes of
// it: a second attempt with the same address finds nothing.
func (c *Console) providerCallback(p *page) error {
	if c.cfg.Provider == nil {
		return imagegen.ErrNotFound
	}
	var v authRequest
	cookie, err := p.r.Cookie(c.cookieName(authCookie))
	ok := err == nil
	if ok {
		http.SetCookie(p.w, c.cookie(authCookie, "", -1))
		v, ok = c.authRequests.take(cookie.Value, p.now)
	}
	// A sign-in may be completed whoever is signed in here now; anything else only by the sign-in that began it.
	if !ok || v.purpose != toSignIn && v.signIn != p.person.signIn.Hash {
		p.signInFailed("")
		return imagegen.Invalid("this sign-in was used already, took too long, or was begun in another browser; begin again")
	}
	who, err := c.cfg.Provider.Finish(p.context(), v.secret, p.r.URL.Query())
	if err != nil {
		p.signInFailed("")
		c.cfg.Log.WarnContext(p.context(), "a sign-in by the provider was refused", "issuer", c.cfg.Provider.Issuer(), "error", err)
		return err
	}
	// The provider's answer is used up: finish even if the browser hangs up.
	p.r = p.r.WithContext(context.WithoutCancel(p.context()))
	switch v.purpose {
	case toConnect:
		return c.connectIdentity(p, who)
	case toConfirm:
		return c.confirmedByProvider(p, v.action, who)
	}
	return c.signInAs(p, who, v.next)
}
