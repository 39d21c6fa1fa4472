package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// A sign-in ends after idleTimeout without use, and in any case after absoluteTimeout.
const (
	idleTimeout     = 30 * time.Minute
	absoluteTimeout = 12 * time.Hour
	// seenEvery is the resolution of a sign-in's last use, so that not every page costs a write.
	seenEvery = time.Minute
	// sweepEvery is how often ended sign-ins are removed from the store.
	sweepEvery = 10 * time.Minute
)

// maxSignIns is how many sign-ins a user can have at once. One more ends the oldest.
const maxSignIns = 50

// maxAgent is how many bytes of the User-Agent header are stored.
const maxAgent = 255

// cookieName returns the name of a cookie; what "" means the one that holds the sign-in. A browser accepts a __Host-
// name only from this host itself, over https and for all paths, so no other host of the domain can plant such a
// cookie.
func (c *Console) cookieName(what string) string {
	name := "imagegen"
	if what != "" {
		name += "-" + what
	}
	if c.cfg.Secure {
		return "__Host-" + name
	}
	return name
}

// cookie returns a cookie that scripts cannot read. maxAge is in seconds; 0: until the browser is closed; negative: the
// cookie is removed. SameSite=Lax keeps it on the way back from an identity provider, which is a GET from another site.
func (c *Console) cookie(what, value string, maxAge int) *http.Cookie {
	k := &http.Cookie{Name: c.cookieName(what), Value: value, Path: c.cfg.Path, MaxAge: maxAge,
		HttpOnly: true, Secure: c.cfg.Secure, SameSite: http.SameSiteLaxMode}
	if c.cfg.Secure {
		k.Path = "/" // which __Host- requires
	}
	return k
}

// newToken returns 256 random bits for a cookie or a link, and the hash to store. A plain SHA-256 is enough, since
// nobody can guess the bits; and whoever reads the store cannot sign in with what they find.
func newToken() (token string, hash [32]byte) {
	var secret [32]byte
	rand.Read(secret[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(secret[:])
	return token, sha256.Sum256([]byte(token))
}

// identify sets p.person to whoever is signed in. Nobody being signed in is no error; a cookie that no longer signs
// anybody in is removed.
func (p *page) identify() error {
	cookie, err := p.r.Cookie(p.c.cookieName(""))
	if err != nil {
		return nil
	}
	polls := p.scripted() && p.r.Method == http.MethodGet // an open page that updates itself does not count as use
	who, err := p.c.identify(p.context(), sha256.Sum256([]byte(cookie.Value)), p.now, !polls)
	if errors.Is(err, imagegen.ErrNotFound) {
		http.SetCookie(p.w, p.c.cookie("", "", -1))
		return nil
	}
	p.person = who
	return err
}

// identify returns the person of a sign-in. ErrNotFound: there is no such sign-in, it has ended, or its user is
// disabled. used says that the request counts as use of the sign-in. It reads the store each time, so a sign-in that
// was ended anywhere stops working with the next request, on every node.
func (c *Console) identify(ctx context.Context, hash [32]byte, now time.Time, used bool) (person, error) {
	s, err := c.cfg.Logins.SignIn(ctx, hash)
	if err != nil {
		return person{}, err
	}
	if ended(s, now) {
		return person{}, imagegen.ErrNotFound // sweep removes it later
	}
	login, err := c.cfg.Logins.Login(ctx, s.User)
	if err != nil {
		return person{}, err
	}
	u, err := c.cfg.Engine.Accounts().User(ctx, s.User)
	if err != nil {
		return person{}, err
	}
	if !u.DisabledAt.IsZero() {
		return person{}, imagegen.ErrNotFound
	}
	// The last use is not worth failing a request for: if it cannot be written, the sign-in may time out early.
	if used && now.Sub(s.SeenAt) >= seenEvery {
		if err := c.cfg.Logins.TouchSignIn(ctx, hash, now); err != nil {
			c.cfg.Log.WarnContext(ctx, "a sign-in may end early", "user", u.ID, "error", err)
		}
	}
	return person{User: u, Role: login.Role, signIn: s}, nil
}

// ended reports whether a sign-in has timed out.
func ended(s account.SignIn, now time.Time) bool {
	return now.Sub(s.SeenAt) >= idleTimeout || now.Sub(s.CreatedAt) >= absoluteTimeout
}

// errPasswordChanged says that a password was right when it was checked, and is not any more.
var errPasswordChanged = imagegen.Invalid("the password was changed meanwhile; sign in with the new one")

// createSignIn signs a user in and sets the cookie. password is the hash that the user was checked against: if the
// password has changed since, nobody is signed in. confirmed is when the user proved their identity; zero: they came by
// a link.
//
// The browser gets a new cookie whatever it had before, and a sign-in that it had ends: whoever planted a cookie there
// is not signed in with it.
func (p *page) createSignIn(u imagegen.UserID, password string, confirmed time.Time) error {
	who, err := p.c.cfg.Engine.Accounts().User(p.context(), u)
	if err != nil {
		return err
	}
	p.act(who)
	ctx, logins := p.context(), p.c.cfg.Logins
	if err := p.c.sweep(ctx, p.now); err != nil {
		return err
	}
	// The browser's former sign-in ends first: its cookie is about to be replaced, and nobody would use it any more.
	if p.person.known() {
		if err := logins.EndSignIns(ctx, p.person.ID, p.person.signIn.Hash); err != nil {
			return err
		}
	}
	if err := p.c.makeRoom(ctx, u); err != nil {
		return err
	}
	token, hash := newToken()
	agent := p.r.UserAgent()
	agent = strings.ToValidUTF8(agent[:min(len(agent), maxAgent)], "")
	s := account.SignIn{Hash: hash, User: u, CreatedAt: p.now, SeenAt: p.now, Agent: agent, ConfirmedAt: confirmed}
	if err := logins.CreateSignIn(ctx, s); err != nil {
		return err
	}
	// A change of the password ends the sign-ins that exist then. A change that came after the check, but before
	// CreateSignIn, has missed this one: it is found by reading the login again, after the sign-in exists.
	login, err := p.c.login(ctx, u)
	switch {
	case err != nil:
		return err
	case login.Password != password:
		if err := logins.EndSignIns(ctx, u, hash); err != nil {
			return err
		}
		return errPasswordChanged
	}
	// Only a sign-in that stands is handed out.
	http.SetCookie(p.w, p.c.cookie("", token, 0))
	p.rememberDevice(login)
	return nil
}

// makeRoom ends the oldest sign-ins of a user, so that one more stays within maxSignIns. Concurrent sign-ins may exceed
// that by a few, until the next.
func (c *Console) makeRoom(ctx context.Context, u imagegen.UserID) error {
	ss, err := c.cfg.Logins.SignIns(ctx, u)
	if err != nil || len(ss) < maxSignIns {
		return err
	}
	var end [][32]byte
	for _, s := range ss[:len(ss)-maxSignIns+1] {
		end = append(end, s.Hash)
	}
	return c.cfg.Logins.EndSignIns(ctx, u, end...)
}

// sweep removes sign-ins that have timed out, at most once in sweepEvery. Of concurrent calls one sweeps: whoever swaps
// the time. Nothing depends on it but the size of the store.
func (c *Console) sweep(ctx context.Context, now time.Time) error {
	last := c.swept.Load()
	if now.Unix()-last < int64(sweepEvery/time.Second) || !c.swept.CompareAndSwap(last, now.Unix()) {
		return nil
	}
	return c.cfg.Logins.EndSignInsBefore(ctx, now.Add(-idleTimeout), now.Add(-absoluteTimeout))
}

// askSignIn redirects to the sign-in page, which leads back to what was asked for. For a fragment that is the page
// around it. A form that was posted is lost: the way back leads to the first page.
func (p *page) askSignIn() error {
	address := p.c.path("signin")
	back := p.r.URL.RequestURI()
	if from := p.r.Header.Get("HX-Current-URL"); p.scripted() && from != "" {
		back = from
	}
	if p.r.Method == http.MethodGet || p.scripted() {
		address += "?" + url.Values{"next": {p.c.local(back)}}.Encode()
	}
	return p.send(address)
}

// local returns the path and query of an address if they lie within the console, otherwise the console's first page.
// So a link to the sign-in page cannot send anybody to another site. A path that begins with two slashes would.
func (c *Console) local(address string) string {
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(u.Path, c.cfg.Path) || strings.HasPrefix(u.Path, "//") {
		return c.cfg.Path
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).RequestURI()
}
