package console

import (
	"context"
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// signInView is what signin.html is given.
type signInView struct {
	Form *form
	Next string // where to go then
}

func (c *Console) signInForm(p *page) error {
	next := c.local(p.r.URL.Query().Get("next"))
	if p.person.known() {
		return p.send(next)
	}
	return p.render("signin", signInView{filled(), next})
}

func (c *Console) signIn(p *page) error {
	f, err := p.form()
	if err != nil {
		return err
	}
	v := signInView{f, c.local(f.Value("next"))}
	name, address := f.Value("name"), c.address(p.r)
	if wait := c.failures.Try(name, address, p.now); wait > 0 {
		p.signInFailed(name)
		p.retryAfter(wait)
		f.blameAll("Too many attempts failed. Try again in %s.", inWords(wait))
		return p.renderStatus(http.StatusTooManyRequests, "signin", v)
	}
	login, ok, err := c.authenticate(p.context(), name, f.secret("password"))
	if err != nil {
		c.failures.Forget(name, address, p.now)
		return err
	}
	if !ok {
		p.signInFailed(name)
		f.blameAll("The name or the password is wrong.")
		return p.renderStatus(http.StatusUnprocessableEntity, "signin", v)
	}
	c.failures.Succeeded(name, address, p.now)
	if err := f.refuse("", p.begin(login.User, login.Password)); err != nil {
		return err
	}
	if !f.valid() {
		return p.renderStatus(http.StatusUnprocessableEntity, "signin", v)
	}
	return p.send(v.Next)
}

// authenticate returns the login of a name if the password is theirs and they are not disabled. It
// computes one hash, also when there is no such user or they have no password.
func (c *Console) authenticate(ctx context.Context, name, secret string) (login imagegen.Login, ok bool, err error) {
	u, err := c.cfg.Engine.Accounts().UserByName(ctx, name)
	if err == nil {
		login, err = c.cfg.Logins.Login(ctx, u.ID)
	}
	if err != nil && !errors.Is(err, imagegen.ErrNotFound) {
		return login, false, err
	}
	ok, err = c.passwords.Verify(ctx, login.Password, secret)
	return login, ok && u.DisabledAt.IsZero(), err
}

func (c *Console) signOut(p *page) error {
	if p.person.known() {
		if err := c.cfg.Logins.EndSignIns(p.context(), p.person.ID, p.person.signIn.Hash); err != nil {
			return err
		}
	}
	http.SetCookie(p.w, c.cookie("", "", -1))
	return p.done("You are signed out.", "signin")
}

// inWords rounds a pause up to whole seconds: no failure has to wait longer than a minute.
func inWords(d time.Duration) string { return count(int(math.Ceil(d.Seconds())), "second", "seconds") }
