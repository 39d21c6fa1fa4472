package signin

import (
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/link"
)

// sweepEvery is how often ended sign-ins are removed from the store.
const sweepEvery = 10 * time.Minute

// maxSignIns is how many sign-ins a user can have at once. One more ends the oldest.
const maxSignIns = 50

// maxAgent is how many bytes of the User-Agent header are stored.
const maxAgent = 255

// errPasswordChanged says that a password was right when it was checked, and is not any more.
var errPasswordChanged = imagegen.Invalid("the password was changed meanwhile; sign in with the new one")

// createSignIn signs a user in and sets the cookie. password is the hash that the user was checked against: if the
// password has changed since, nobody is signed in. confirmed is when the user proved their identity; zero: they came by
// a link.
//
// The browser gets a new cookie whatever it had before, and a sign-in that it had ends: a cookie that somebody has
// planted there signs nobody in.
func (s *Pages) createSignIn(p *frame.Page, u imagegen.UserID, password string, confirmed time.Time) error {
	user, err := p.Engine.Accounts().User(p.Context(), u)
	if err != nil {
		return err
	}
	p.SetActor(user)
	ctx, logins := p.Context(), p.Logins
	if err := s.removeEndedSignIns(p); err != nil {
		return err
	}
	// The browser's former sign-in ends first: its cookie is about to be replaced, and nobody would use it any more.
	if p.Person.Known() {
		if err := logins.EndSignIns(ctx, p.Person.ID, p.Person.SignIn.Hash); err != nil {
			return err
		}
	}
	if err := endOldestSignIns(p, u); err != nil {
		return err
	}
	token, hash := link.NewToken()
	agent := p.Request.UserAgent()
	agent = strings.ToValidUTF8(agent[:min(len(agent), maxAgent)], "")
	made := account.SignIn{Hash: hash, User: u, CreatedAt: p.Now, SeenAt: p.Now, Agent: agent, ConfirmedAt: confirmed}
	if err := logins.CreateSignIn(ctx, made); err != nil {
		return err
	}
	// A change of the password ends the sign-ins that exist then. A change that came after the check, but before
	// CreateSignIn, has missed this one: it is found by reading the login again, after the sign-in exists.
	login, err := p.Login(ctx, u)
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
	p.SetCookie(frame.SignInCookie, token, 0)
	setDeviceCookie(p, login)
	return nil
}

// endOldestSignIns ends the oldest sign-ins of a user, so that one more stays within maxSignIns. Concurrent sign-ins
// may exceed that by a few, until the next.
func endOldestSignIns(p *frame.Page, u imagegen.UserID) error {
	all, err := p.Logins.SignIns(p.Context(), u)
	if err != nil || len(all) < maxSignIns {
		return err
	}
	var oldest [][32]byte
	for _, one := range all[:len(all)-maxSignIns+1] {
		oldest = append(oldest, one.Hash)
	}
	return p.Logins.EndSignIns(p.Context(), u, oldest...)
}

// removeEndedSignIns removes sign-ins that have timed out, at most once in sweepEvery. Of concurrent calls that which
// swaps the time does so. Nothing depends on it but the size of the store.
func (s *Pages) removeEndedSignIns(p *frame.Page) error {
	last := s.swept.Load()
	if p.Age(time.Unix(last, 0)) < sweepEvery || !s.swept.CompareAndSwap(last, p.Now.Unix()) {
		return nil
	}
	return p.Logins.EndSignInsAged(p.Context(), frame.IdleTimeout, frame.AbsoluteTimeout)
}
