package frame

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// A sign-in ends after IdleTimeout without use, and in any case after AbsoluteTimeout.
const (
	IdleTimeout     = 30 * time.Minute
	AbsoluteTimeout = 12 * time.Hour
	// seenEvery is the resolution of a sign-in's last use, so that not every page costs a write.
	seenEvery = time.Minute
)

// SignInCookie is the cookie that holds the sign-in.
const SignInCookie = ""

// identify sets p.Person to the person who is signed in. It is not an error if nobody is; a cookie that no longer signs
// anybody in is removed.
func (p *Page) identify() error {
	if p.Host != nil {
		return p.identifyByHost()
	}
	cookie, ok := p.Cookie(SignInCookie)
	if !ok {
		return nil
	}
	// An open page that updates itself does not count as use.
	polls := p.Scripted() && p.Request.Method == http.MethodGet
	person, err := p.personOf(p.Context(), sha256.Sum256([]byte(cookie)), p.Now, !polls)
	if errors.Is(err, imagegen.ErrNotFound) {
		p.RemoveCookie(SignInCookie)
		return nil
	}
	p.Person = person
	p.Person.SponsorName = p.UserName(person.Sponsor)
	return err
}

// Still looks at the sign-in again, after time has passed: a form has come, or a page has waited. ErrInvalidKey: it has
// ended, which leads to the sign-in page. ErrNotFound: the person may not open the route any more. On a route for
// anyone, nobody is signed in then.
func (p *Page) Still() error {
	if !p.Person.Known() {
		return nil
	}
	p.Now = p.Frame.Now()
	if err := p.identifyAgain(); err != nil {
		return err
	}
	switch {
	case p.Route.Access.allows(p.Person):
		return nil
	case p.Person.Known():
		return imagegen.ErrNotFound
	}
	return imagegen.ErrInvalidKey
}

func (p *Page) identifyAgain() error {
	if p.Host != nil {
		return p.identifyAgainByHost()
	}
	p.Person = Person{}
	return p.identify()
}

// personOf returns the person of a sign-in. ErrNotFound: there is no such sign-in, it has ended, or its user is
// disabled. used says that the request counts as use of the sign-in. It reads the store each time, so a sign-in that
// was ended anywhere stops working with the next request, on every node.
func (f *Frame) personOf(ctx context.Context, hash [32]byte, now time.Time, used bool) (Person, error) {
	s, err := f.Logins.SignIn(ctx, hash)
	if err != nil {
		return Person{}, err
	}
	if f.TimedOut(s) {
		return Person{}, imagegen.ErrNotFound // it is removed from the store later
	}
	login, err := f.Logins.Login(ctx, s.User)
	if err != nil {
		return Person{}, err
	}
	u, err := f.Engine.Accounts().User(ctx, s.User)
	if err != nil {
		return Person{}, err
	}
	if !u.DisabledAt.IsZero() {
		return Person{}, imagegen.ErrNotFound
	}
	// The last use is not worth failing a request for: if it cannot be written, the sign-in may time out early.
	if used && f.Age(s.SeenAt) >= seenEvery {
		if err := f.Logins.TouchSignIn(ctx, hash, now); err != nil {
			f.Log.WarnContext(ctx, "a sign-in may end early", "user", u.ID, "error", err)
		}
	}
	return Person{User: u, Role: login.Role, SignIn: s}, nil
}

// TimedOut reports whether a sign-in has ended by its age.
func (f *Frame) TimedOut(s account.SignIn) bool {
	return f.Age(s.SeenAt) >= IdleTimeout || f.Age(s.CreatedAt) >= AbsoluteTimeout
}

// redirectToSignIn redirects to the sign-in page, which leads back to what was asked for. For a fragment that is the
// page around it. A form that was posted is lost: the way back leads to the first page.
func (p *Page) redirectToSignIn() error {
	back := p.Request.URL.RequestURI()
	if from := p.Request.Header.Get("HX-Current-URL"); p.Scripted() && from != "" {
		back = from
	}
	if p.Request.Method == http.MethodGet || p.Scripted() {
		return p.RedirectTo(p.signInAddress(p.Local(back)))
	}
	return p.RedirectTo(p.signInAddress(""))
}
