package signin

import (
	"encoding/hex"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// accountView is the data of account.html.
type accountView struct {
	Form      *form.Form
	Person    frame.Person
	Balance   imagegen.Balance
	Login     account.Login
	Connected bool // with the identity provider
	Passkeys  []account.Passkey
	CanMake   bool // the service is set up for passkeys
	SignIns   []signInLine
}

// signInLine is one sign-in in the list.
type signInLine struct {
	account.SignIn
	This bool // the sign-in of this request
}

func (s *Pages) Account(p *frame.Page) error { return s.showAccount(p, form.Filled()) }

// showAccount renders the page with one form, which may have faults. Sign-ins are listed newest first, without those
// that have timed out and are still in the store.
func (s *Pages) showAccount(p *frame.Page, f *form.Form) error {
	all, err := p.Logins.SignIns(p.Context(), p.Person.ID)
	if err != nil {
		return err
	}
	v := accountView{Form: f, Person: p.Person}
	for _, one := range slices.Backward(all) {
		if !p.TimedOut(one) {
			v.SignIns = append(v.SignIns, signInLine{one, one.Hash == p.Person.SignIn.Hash})
		}
	}
	if v.Login, err = p.Login(p.Context(), p.Person.ID); err != nil {
		return err
	}
	v.CanMake = s.Passkeys != nil
	if v.Passkeys, err = p.Logins.Passkeys(p.Context(), p.Person.ID); err != nil {
		return err
	}
	if v.Connected, err = s.connected(p); err != nil {
		return err
	}
	if v.Balance, err = p.Service().Balance(p.Context()); err != nil {
		return err
	}
	return p.RenderForms("account", v, f)
}

// ChangePassword asks for the present password even shortly after a confirmation: somebody who finds a browser open
// cannot take the account over. The new password ends all sign-ins, so this browser gets a new one.
func (s *Pages) ChangePassword(p *frame.Page, f *form.Form) error {
	chosen := newPassword(f)
	var present account.Login
	if f.Valid() {
		var err error
		if present, err = s.checkPassword(p, f, "present"); err != nil {
			return err
		}
	}
	if !f.Valid() {
		return s.showAccount(p, f)
	}
	// Hashing takes long, so it is done before replacePassword locks and compares.
	hash, err := s.Passwords.Hash(p.Context(), chosen)
	if err != nil {
		return err
	}
	if err := s.replacePassword(p, present, hash); err != nil {
		return err
	}
	if err := s.createSignIn(p, p.Person.ID, hash, p.Now); err != nil {
		return err
	}
	return p.RedirectWith("Your password is changed. You are signed out everywhere else.", "account")
}

// replacePassword sets a password, unless the present one has changed since it was checked: if a link was used
// meanwhile, the link wins, and errPasswordChanged is returned.
func (s *Pages) replacePassword(p *frame.Page, present account.Login, hash string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	now, err := p.Login(p.Context(), p.Person.ID)
	if err != nil {
		return err
	}
	if now.Password != present.Password {
		return errPasswordChanged
	}
	now.Password, now.ChangedAt = hash, p.Now
	return p.Logins.SetLogin(p.Context(), now)
}

// checkPassword checks that a field holds the person's password, and returns their login. If it does not, or there were
// too many attempts, the field has a fault. Wrong passwords count against the limits on sign-ins.
func (s *Pages) checkPassword(p *frame.Page, f *form.Form, name string) (account.Login, error) {
	a, err := newAttempt(p, p.Person.Name)
	if err != nil {
		return a.login, err
	}
	ok, wait, err := s.authenticate(p, a, f.Secret(name))
	switch {
	case wait > 0:
		f.AddFault(name, "Too many attempts. Try again in %s.", waitInWords(wait))
	case err == nil && !ok:
		f.AddFault(name, "This is not your present password.")
	}
	return a.login, err
}

// EndSignIns signs the person out in one browser or, if the form names none, in all except this one.
func (s *Pages) EndSignIns(p *frame.Page, f *form.Form) error {
	one := f.Value("signin")
	n, err := endSignIns(p, one)
	switch {
	case err != nil:
		return err
	case n == 0 && one != "":
		return p.RedirectWith("It is signed out already.", "account")
	case n == 0:
		return p.RedirectWith("You are signed in nowhere else.", "account")
	}
	return p.RedirectWith("Signed out in "+format.Count(n, "browser", "browsers")+".", "account")
}

// endSignIns ends the person's sign-in with the hash one, in hexadecimal, or with "" all except this browser's, and
// returns how many have ended.
func endSignIns(p *frame.Page, one string) (int, error) {
	all, err := p.Logins.SignIns(p.Context(), p.Person.ID)
	var end [][32]byte
	for _, s := range all {
		named := one == hex.EncodeToString(s.Hash[:]) || one == "" && s.Hash != p.Person.SignIn.Hash
		if named && !p.TimedOut(s) {
			end = append(end, s.Hash)
		}
	}
	if err != nil || len(end) == 0 { // the store would end all sign-ins if it were given none
		return 0, err
	}
	return len(end), p.Logins.EndSignIns(p.Context(), p.Person.ID, end...)
}
