package console

import (
	"encoding/hex"
	"net/http"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// accountView is the data of account.html.
type accountView struct {
	Form      *form
	Person    person
	Balance   imagegen.Balance
	Login     account.Login
	Connected bool // with the identity provider
	Passkeys  []account.Passkey
	CanMake   bool // the service is set up for passkeys
	SignIns   []signInLine
}

// signInLine is one sign-in in the list.
type signInLine struct {
	ID        string
	Browser   string
	CreatedAt time.Time
	SeenAt    time.Time
	This      bool // the sign-in of this request
}

// Idle is how long a browser stays signed in without use, in words.
func (accountView) Idle() string { return count(int(idleTimeout/time.Minute), "minute", "minutes") }

// Absolute is how long it stays signed in at most, in words.
func (accountView) Absolute() string { return count(int(absoluteTimeout/time.Hour), "hour", "hours") }

func (c *Console) account(p *page) error { return c.showAccount(p, http.StatusOK, filled()) }

// showAccount renders the page with one form, which may have faults. Sign-ins are listed newest first, without those
// that have timed out and are still in the store.
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

// changePassword asks for the present password even shortly after a confirmation: whoever finds a browser open cannot
// take the account over. The new password ends all sign-ins, so this browser gets a new one.
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
	// Hashing takes long, so it is done before replacePassword locks and compares.
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

// replacePassword sets a password, unless the present one has changed since it was checked: if a link was used
// meanwhile, the link wins, and errPasswordChanged is returned.
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

// checkPassword checks that a field holds the person's password, and returns their login. If it does not, or there were
// too many attempts, the field has a fault. Wrong passwords count against the limits on sign-ins.
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

// endSignIns signs the person out in one browser or, if the form names none, in all except this one.
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
	switch { // the store would end all sign-ins if it were given none
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

// among returns those of the sign-ins that have not ended and have the hash one, in hexadecimal; with "", all but this
// browser's.
func (p *page) among(ss []account.SignIn, one string) (found [][32]byte) {
	for _, s := range ss {
		named := one == hex.EncodeToString(s.Hash[:]) || one == "" && s.Hash != p.person.signIn.Hash
		if named && !ended(s, p.now) {
			found = append(found, s.Hash)
		}
	}
	return found
}
