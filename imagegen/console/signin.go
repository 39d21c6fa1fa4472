package console

import (
	"context"
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/limiter"
)

// signInView is the data of signin.html.
type signInView struct {
	Form *form
	Next string // the page to go to afterwards
}

// signInForm shows the form, unless somebody is signed in: they go on to where the sign-in would lead.
func (c *Console) signInForm(p *page) error {
	next := c.local(p.r.URL.Query().Get("next"))
	if p.person.known() {
		return p.send(next)
	}
	return p.render("signin", signInView{filled(), next})
}

// signIn checks a name and a password. Its answers do not tell a wrong name from a wrong password, and take the same
// time for both: see authenticate.
func (c *Console) signIn(p *page) error {
	f, err := p.form()
	if err != nil {
		return err
	}
	v := signInView{f, c.local(f.Value("next"))}
	a, err := c.newAttempt(p, f.Value("name"))
	if err != nil {
		return err
	}
	ok, wait, err := c.authenticate(p, a, f.secret("password"))
	switch {
	case err != nil:
		return err
	case wait > 0:
		p.retryAfter(wait)
		f.addFormFault("Too many attempts. Try again in %s.", inWords(wait))
		return p.renderStatus(http.StatusTooManyRequests, "signin", v)
	case !ok:
		f.addFormFault("The name or the password is wrong.")
		return p.renderStatus(http.StatusUnprocessableEntity, "signin", v)
	}
	e := pendingSignIn{user: a.login.User, password: a.login.Password, confirmed: p.now, next: v.Next}
	if a.Browser == "" { // somebody else may have set this password by a link: its owner would notice here
		e.message = "This is the first sign-in in this browser with the password that was set on " + inFull(a.login.ChangedAt) +
			". If you did not set it then, ask the operator for a link and choose another."
	}
	if err := f.refuse("", p.admit(e)); err != nil {
		return err
	}
	if !f.valid() {
		return p.renderStatus(http.StatusUnprocessableEntity, "signin", v)
	}
	return nil
}

// signInAttempt is an attempt to sign in, before the password is checked.
type signInAttempt struct {
	limiter.Attempt
	user  imagegen.User // zero: there is no user of this name
	login account.Login // without a password if there is no such user, or they have none
}

// newAttempt looks up the user of a name. That there is none is no error: authenticate must hash all the same.
func (c *Console) newAttempt(p *page, name string) (a signInAttempt, err error) {
	a.Attempt = limiter.Attempt{Name: name, Address: c.address(p.r)}
	a.user, err = c.cfg.Engine.Accounts().UserByName(p.context(), name)
	if err == nil {
		a.login, err = c.cfg.Logins.Login(p.context(), a.user.ID)
	}
	if err != nil && !errors.Is(err, imagegen.ErrNotFound) {
		return a, err
	}
	a.Browser = p.device(a.login)
	return a, nil
}

// authenticate reports whether the password is right and the user not disabled. wait > 0: there were too many attempts,
// and the password was not checked. ErrBusy of package password: too many hashes wait; the attempt does not count.
//
// It computes one hash even if there is no such user or they have no password, so that the time it takes does not tell.
// For each name and each address one hash at a time is computed.
func (c *Console) authenticate(p *page, a signInAttempt, secret string) (ok bool, wait time.Duration, err error) {
	if wait := c.attempts.Try(a.Attempt, p.now); wait > 0 {
		p.signInFailed(a.Name)
		return false, wait, nil
	}
	if ok, err = c.verify(p.context(), a, secret); err != nil {
		c.attempts.Forget(a.Attempt, p.now) // the password was not judged
		return false, 0, err
	}
	if ok = ok && a.user.DisabledAt.IsZero(); ok {
		c.attempts.Succeeded(a.Attempt, p.now)
	} else {
		p.signInFailed(a.Name)
	}
	return ok, 0, nil
}

// verify waits for the turn of the name and the address, and checks the password. A known browser waits as long as it
// takes, where others get ErrBusy: a flood of strangers does not keep a user out.
func (c *Console) verify(ctx context.Context, a signInAttempt, secret string) (bool, error) {
	done, err := c.turns.Take(ctx, a.Attempt)
	if err != nil {
		return false, err
	}
	defer done()
	if a.Browser != "" {
		return c.passwords.VerifyPatiently(ctx, a.login.Password, secret)
	}
	return c.passwords.Verify(ctx, a.login.Password, secret)
}

// signOut ends the sign-in of this browser. It succeeds for somebody who is not signed in.
func (c *Console) signOut(p *page) error {
	if p.person.known() {
		if err := c.cfg.Logins.EndSignIns(p.context(), p.person.ID, p.person.signIn.Hash); err != nil {
			return err
		}
	}
	http.SetCookie(p.w, c.cookie("", "", -1))
	p.w.Header().Set("Clear-Site-Data", `"cache", "storage"`) // not the cookies: the browser stays known
	return p.done("You are signed out.", "signin")
}

// inFull formats a time for a sentence.
func inFull(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// inWords formats a pause in seconds, rounded up: whoever waits that long is not refused again. The limits never ask
// for more than about a minute, so seconds are enough.
func inWords(d time.Duration) string { return count(int(math.Ceil(d.Seconds())), "second", "seconds") }
