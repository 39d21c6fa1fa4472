package console

import (
	"encoding/hex"
	"net/http"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// accountView is what account.html is given.
type accountView struct {
	Form      *form
	Person    person
	Balance   imagegen.Balance
	Login     account.Login
	Connected bool // with the provider
	Passkeys  []account.Passkey
	CanMake   bool // passkeys
	SignIns   []signInLine
}

// signInLine is one browser in the list.
type signInLine struct {
	ID        string
	Browser   string
	CreatedAt time.Time
	SeenAt    time.Time
	This      bool
}

// Idle is how long a browser stays signed in without use.
func (accountView) Idle() string { return count(int(idleTimeout/time.Minute), "minute", "minutes") }

// Absolute is how long it does in any case.
func (accountView) Absolute() string { return count(int(absoluteTimeout/time.Hour), "hour", "hours") }

func (c *Console) account(p *page) error { return c.showAccount(p, http.StatusOK, filled()) }

func (c *Console) showAccount(p *page, status int, f *form) error {
	ss, err := c.cfg.Logins.SignIns(p.context(), p.person.ID)
	if err != nil {
		return err
	}
	v := accountView{Form: f, Person: p.person}
	for _, s := range slices.Backward(ss) {
		if !ended(s, p.now) {
			v.SignIns = append(v.SignIns, signInLine{hex.EncodeToString(s.Hash[:]), browser(s.Agent), s.CreatedAt, s.SeenAt, s.Hash == p.person.signIn.Hash})
		}
	}
	if v.Login, err = c.login(p.context(), p.person.ID); err != nil {
		return err
	}
	v.CanMake = c.cfg.Passkeys != nil
	if v.Passkeys, err = c.cfg.Logins.Passkeys(p.context(), p.person.ID); err != nil {
		return err
	}
	if v.Connected, err = p.connected(); err != nil {
		return err
	}
	if v.Balance, err = p.service().Balance(p.context()); err != nil {
		return err
	}
	return p.renderStatus(status, "account", v)
}

// changePassword asks for the present password: who finds a browser open cannot take the account over.
func (c *Console) changePassword(p *page) error {
	f, err := p.form()
	if err != nil {
		return err
	}
	chosen := f.newPassword()
	var present account.Login
	if f.valid() {
		if present, err = c.checkPassword(p, f, "present"); err != nil {
			return err
		}
	}
	if !f.valid() {
		return c.showAccount(p, http.StatusUnprocessableEntity, f)
	}
	hash, err := c.passwords.Hash(p.context(), chosen)
	if err != nil {
		return err
	}
	if err := c.replacePassword(p, present, hash); err != nil {
		return err
	}
	if err := p.createSignIn(p.person.ID, hash, p.now); err != nil {
		return err
	}
	return p.done("Your password is changed. You are signed out everywhere else.", "account")
}

// replacePassword sets a password that was asked for with the present one, unless that is no longer the
// present one: a link that was used meanwhile counts.
func (c *Console) replacePassword(p *page, present account.Login, hash string) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	now, err := c.login(p.context(), p.person.ID)
	if err != nil {
		return err
	}
	if now.Password != present.Password {
		return errPasswordChanged
	}
	now.Password, now.ChangedAt = hash, p.now
	return c.cfg.Logins.SetLogin(p.context(), now)
}

// checkPassword blames a field unless it holds the person's password, and returns their login.
func (c *Console) checkPassword(p *page, f *form, name string) (account.Login, error) {
	a, err := c.newAttempt(p, p.person.Name)
	if err != nil {
		return a.login, err
	}
	ok, wait, err := c.authenticate(p, a, f.secret(name))
	switch {
	case wait > 0:
		f.addFault(name, "Too many attempts. Try again in %s.", inWords(wait))
	case err == nil && !ok:
		f.addFault(name, "This is not your present password.")
	}
	return a.login, err
}

// endSignIns signs the person out in one browser, or in all but this one.
func (c *Console) endSignIns(p *page) error {
	f, err := p.form()
	if err != nil {
		return err
	}
	ss, err := c.cfg.Logins.SignIns(p.context(), p.person.ID)
	if err != nil {
		return err
	}
	one := f.Value("signin")
	end := p.among(ss, one)
	switch { // to name none would end all
	case len(end) == 0 && one != "":
		return p.done("It is signed out already.", "account")
	case len(end) == 0:
		return p.done("You are signed in nowhere else.", "account")
	}
	if err := c.cfg.Logins.EndSignIns(p.context(), p.person.ID, end...); err != nil {
		return err
	}
	return p.done("Signed out in "+count(len(end), "browser", "browsers")+".", "account")
}

// among finds one of the sign-ins that have not ended; with "", all of those but this browser's.
func (p *page) among(ss []account.SignIn, one string) (found [][32]byte) {
	for _, s := range ss {
		named := one == hex.EncodeToString(s.Hash[:]) || one == "" && s.Hash != p.person.signIn.Hash
		if named && !ended(s, p.now) {
			found = append(found, s.Hash)
		}
	}
	return found
}
