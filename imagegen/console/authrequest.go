package console

import (
	"context"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// authRequest is a browser that is with the provider. It comes back with a cookie that only this visit set.
type authRequest struct {
	purpose purpose
	signIn  [32]byte      // who is there to connect or to confirm is signed in by it
	secret  []byte        // of the provider
	next    string        // where to go then
	action  pendingAction // that waits for a confirmation
}

// purpose is why somebody proves who they are.
type purpose int

const (
	toSignIn purpose = iota
	toConnect
	toConfirm
	toMakePasskey
)

// authCookie holds the token of a visit.
const authCookie = "visit"

// goToProvider sends a browser to the provider. It is a link: a form may lead to no other host.
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

// leave begins a visit.
func (p *page) sendToProvider(v authRequest) error {
	address, secret, err := p.c.cfg.Provider.Begin(p.context(), p.callback(), v.purpose == toConfirm)
	if err != nil {
		return err
	}
	v.secret = secret
	http.SetCookie(p.w, p.c.cookie(authCookie, p.c.authRequests.put(v, p.now), int(waitTime/time.Second)))
	return p.send(address)
}

// callback is where the provider sends browsers back to.
func (p *page) callback() string { return p.origin() + p.c.path("signin/provider/callback") }

// returned ends a visit.
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
	p.r = p.r.WithContext(context.WithoutCancel(p.context())) // what was proved is seen through
	switch v.purpose {
	case toConnect:
		return c.connectIdentity(p, who)
	case toConfirm:
		return c.confirmedByProvider(p, v.action, who)
	}
	return c.signInAs(p, who, v.next)
}
