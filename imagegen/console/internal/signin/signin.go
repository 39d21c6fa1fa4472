package signin

import (
	"context"
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/limiter"
)

// signInView is the data of signin.html.
type signInView struct {
	Form *form.Form
	Next string // the page to go to afterwards
}

// SignInForm shows the form, unless somebody is signed in: they go on to where the sign-in would lead.
func (s *Pages) SignInForm(p *frame.Page) error {
	next := p.Local(p.Query().Get("next"))
	if p.Person.Known() {
		return p.RedirectTo(next)
	}
	return p.Render("signin", signInView{form.Filled(), next})
}

// SignIn checks a name and a password. Its answers do not tell a wrong name from a wrong password, and take the same
// time for both: see authenticate.
func (s *Pages) SignIn(p *frame.Page, f *form.Form) error {
	v := signInView{f, p.Local(f.Value("next"))}
	a, err := newAttempt(p, f.Value("name"))
	if err != nil {
		return err
	}
	ok, wait, err := s.authenticate(p, a, f.Secret("password"))
	switch {
	case err != nil:
		return err
	case wait > 0:
		p.SetRetryAfter(wait)
		f.AddFault("", "Too many attempts. Try again in %s.", waitInWords(wait))
		return p.RenderStatus(http.StatusTooManyRequests, "signin", v)
	case !ok:
		f.AddFault("", "The name or the password is wrong.")
		return p.RenderForms("signin", v, f)
	}
	pending := pendingSignIn{User: a.login.User, Password: a.login.Password, Confirmed: p.Now, Next: v.Next}
	if a.Browser == "" { // somebody else may have set this password by a link: its owner would notice here
		pending.Message = "This is the first sign-in in this browser with the password that was set on " +
			fullTime(a.login.ChangedAt) +
			". If you did not set it then, ask the operator for a link and choose another."
	}
	if err := f.AddError("", s.signInOrAskPasskey(p, pending)); err != nil || f.Valid() {
		return err
	}
	return p.RenderForms("signin", v, f)
}

// signInAttempt is an attempt to sign in, before the password is checked.
type signInAttempt struct {
	limiter.Attempt
	user  imagegen.User // zero: there is no user of this name
	login account.Login // without a password if there is no such user, or they have none
}

// newAttempt looks up the user of a name. It is not an error if there is none: authenticate must
// hash all the same.
func newAttempt(p *frame.Page, name string) (a signInAttempt, err error) {
	a.Attempt = limiter.Attempt{Name: name, Address: p.ClientAddress()}
	a.user, err = p.Engine.Accounts().UserByName(p.Context(), name)
	if err == nil {
		a.login, err = p.Logins.Login(p.Context(), a.user.ID)
	}
	if err != nil && !errors.Is(err, imagegen.ErrNotFound) {
		return a, err
	}
	a.Browser = knownBrowser(p, a.login)
	return a, nil
}

// authenticate reports whether the password is right and the user not disabled. wait > 0: there were too many attempts,
// and the password was not checked. ErrBusy of package password: too many hashes wait; the attempt does not count.
//
// It computes one hash even if there is no such user or they have no password, so that the time it takes does not tell.
// For each name and each address one hash at a time is computed.
func (s *Pages) authenticate(p *frame.Page, a signInAttempt, secret string) (ok bool, wait time.Duration, err error) {
	if wait, err = s.attempts.Try(p.Context(), a.Attempt, p.Now); err != nil {
		return false, 0, err
	}
	if wait > 0 {
		p.CountFailedSignIn(a.Name)
		return false, wait, nil
	}
	counting := context.WithoutCancel(p.Context()) // what was counted is taken back even if the browser hangs up
	if ok, err = s.verify(p.Context(), a, secret); err != nil {
		return false, 0, errors.Join(err, s.attempts.Forget(counting, a.Attempt, p.Now)) // the password was not judged
	}
	if ok = ok && a.user.DisabledAt.IsZero(); ok {
		return true, 0, s.attempts.Succeeded(counting, a.Attempt, p.Now)
	}
	p.CountFailedSignIn(a.Name)
	return false, 0, nil
}

// verify waits for the turn of the name and the address, and checks the password. A known browser waits as long as it
// takes, where others get ErrBusy: a flood of strangers does not keep a user out.
func (s *Pages) verify(ctx context.Context, a signInAttempt, secret string) (bool, error) {
	done, err := s.turns.Take(ctx, a.Attempt)
	if err != nil {
		return false, err
	}
	defer done()
	if a.Browser != "" {
		return s.Passwords.VerifyPatiently(ctx, a.login.Password, secret)
	}
	return s.Passwords.Verify(ctx, a.login.Password, secret)
}

// SignOut ends the sign-in of this browser. It succeeds for somebody who is not signed in.
func (s *Pages) SignOut(p *frame.Page) error {
	if p.Person.Known() {
		if err := p.Logins.EndSignIns(p.Context(), p.Person.ID, p.Person.SignIn.Hash); err != nil {
			return err
		}
	}
	p.RemoveCookie(frame.SignInCookie)
	p.Writer.Header().Set("Clear-Site-Data", `"cache", "storage"`) // not the cookies: the browser stays known
	return p.RedirectWith("You are signed out.", "signin")
}

// fullTime formats a time for a sentence.
func fullTime(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// waitInWords formats a pause in seconds, rounded up: somebody who waits that long is not refused again. The limits
// never ask for more than about a minute, so seconds are enough.
func waitInWords(d time.Duration) string {
	return format.Count(int(math.Ceil(d.Seconds())), "second", "seconds")
}
