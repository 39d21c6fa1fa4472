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

// A sign-in ends when nothing was done for idleTimeout, and in any case after absolute.
const (
	idleTimeout     = 30 * time.Minute
	absoluteTimeout = 12 * time.Hour
	// seenEvery is how exactly it is kept when something was last done: not every page costs a write.
	seenEvery = time.Minute
	// sweepEvery is how often ended sign-ins are removed.
	sweepEvery = 10 * time.Minute
)

// maxSignIns is how many browsers a user is signed in with at most: the first makes room for one more.
const maxSignIns = 50

// maxAgent is how many bytes of a browser's description of itself are kept.
const maxAgent = 255

// cookieName: what a browser holds under a __Host- name was set by this host, over https, for all paths.
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

// cookie is a cookie that scripts cannot read; maxAge in seconds, 0: until the browser is closed,
// negative: it is removed.
func (c *Console) cookie(what, value string, maxAge int) *http.Cookie {
	k := &http.Cookie{Name: c.cookieName(what), Value: value, Path: c.cfg.Path, MaxAge: maxAge,
		HttpOnly: true, Secure: c.cfg.Secure, SameSite: http.SameSiteLaxMode}
	if c.cfg.Secure {
		k.Path = "/"
	}
	return k
}

// newToken returns 256 random bits for a cookie or a link, and the hash that is kept of them.
func newToken() (token string, hash [32]byte) {
	var secret [32]byte
	rand.Read(secret[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(secret[:])
	return token, sha256.Sum256([]byte(token))
}

// identify finds out who is signed in.
func (p *page) identify() error {
	cookie, err := p.r.Cookie(p.c.cookieName(""))
	if err != nil {
		return nil
	}
	polls := p.scripted() && p.r.Method == http.MethodGet // a page that is left open is no use of it
	who, err := p.c.identify(p.context(), sha256.Sum256([]byte(cookie.Value)), p.now, !polls)
	if errors.Is(err, imagegen.ErrNotFound) {
		http.SetCookie(p.w, p.c.cookie("", "", -1))
		return nil
	}
	p.person = who
	return err
}

// identify returns the person of a sign-in. ErrNotFound if there is none, it has ended, or its user
// is disabled. used says that somebody does something with it.
func (c *Console) identify(ctx context.Context, hash [32]byte, now time.Time, used bool) (person, error) {
	s, err := c.cfg.Logins.SignIn(ctx, hash)
	if err != nil {
		return person{}, err
	}
	if ended(s, now) {
		return person{}, imagegen.ErrNotFound // and swept away later
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
	if used && now.Sub(s.SeenAt) >= seenEvery {
		if err := c.cfg.Logins.TouchSignIn(ctx, hash, now); err != nil {
			c.cfg.Log.WarnContext(ctx, "a sign-in may end early", "user", u.ID, "error", err)
		}
	}
	return person{User: u, Role: login.Role, signIn: s}, nil
}

func ended(s account.SignIn, now time.Time) bool {
	return now.Sub(s.SeenAt) >= idleTimeout || now.Sub(s.CreatedAt) >= absoluteTimeout
}

var errPasswordChanged = imagegen.Invalid("the password was changed meanwhile; sign in with the new one")

// begin signs a user in whose password has that hash: one who was checked against a former password
// is not. The browser gets a new cookie whatever it had before, so that nobody who placed one there is
// signed in with it.
// confirmed is when the user proved who they are; zero: they came by a link.
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
	// A change of the password ends the sign-ins that are there; one that came before is seen here.
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
	http.SetCookie(p.w, p.c.cookie("", token, 0))
	p.rememberDevice(login)
	return nil
}

// makeRoom ends the oldest sign-ins of a user who has too many for one more.
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

// sweep removes sign-ins that have ended, now and then.
func (c *Console) sweep(ctx context.Context, now time.Time) error {
	last := c.swept.Load()
	if now.Unix()-last < int64(sweepEvery/time.Second) || !c.swept.CompareAndSwap(last, now.Unix()) {
		return nil
	}
	return c.cfg.Logins.EndSignInsBefore(ctx, now.Add(-idleTimeout), now.Add(-absoluteTimeout))
}

// askSignIn leads to the sign-in page, and from there back.
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

// local returns an address if it is a page of the console; otherwise that of its first page: nobody
// is sent to another site by a link to the sign-in page.
func (c *Console) local(address string) string {
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(u.Path, c.cfg.Path) || strings.HasPrefix(u.Path, "//") {
		return c.cfg.Path
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).RequestURI()
}
