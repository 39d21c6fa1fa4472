package signin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/link"
	"github.com/imagegend/imagegend/imagegen/console/internal/password"
)

// invitationView is the data of invitation.html.
type invitationView struct {
	Form *form.Form
	Name string
}

func (s *Pages) InvitationForm(p *frame.Page) error {
	_, u, err := invitedUser(p, invitationHash(p))
	if err != nil {
		return invalidLink(p, err)
	}
	return p.Render("invitation", invitationView{form.Filled(), u.Name})
}

// AcceptInvitation sets the chosen password and signs the user in. A user who had a password learns when that was
// set: if somebody else used a link meanwhile, they find out.
func (s *Pages) AcceptInvitation(p *frame.Page, f *form.Form) error {
	i, u, err := invitedUser(p, invitationHash(p))
	if err != nil {
		return invalidLink(p, err)
	}
	chosen := newPassword(f)
	if !f.Valid() {
		return p.RenderForms("invitation", invitationView{f, u.Name}, f)
	}
	// Everything that can be refused comes before setPasswordAndSignIn, which uses up the link.
	hash, err := s.Passwords.Hash(p.Context(), chosen)
	if err != nil {
		return err
	}
	former, err := p.Login(p.Context(), u.ID)
	if err != nil {
		return err
	}
	said := "Your password is set, and you are signed in."
	if former.Password != "" {
		said += " The one before was set on " + fullTime(former.ChangedAt) + "; if that was not you, tell the operator."
	}
	return invalidLink(p, s.setPasswordAndSignIn(p, i, u, hash, said))
}

// invitedUser returns the invitation with a hash, and the user who is invited. ErrNotFound: there is none, it has
// expired, or the user is disabled.
func invitedUser(p *frame.Page, hash [32]byte) (account.Invitation, imagegen.User, error) {
	i, err := p.Logins.Invitation(p.Context(), hash, p.Now)
	if err != nil {
		return i, imagegen.User{}, err
	}
	u, err := p.Engine.Accounts().User(p.Context(), i.User) // the invitation of a set-up has no user: ErrNotFound
	if err == nil && !u.DisabledAt.IsZero() {
		err = imagegen.ErrNotFound
	}
	return i, u, err
}

func invitationHash(p *frame.Page) [32]byte { return link.InvitationHash(p.Request.PathValue("token")) }

// setPasswordAndSignIn uses up an invitation, sets the password whose hash is given, and signs the user in. said is
// shown on the next page. ErrNotFound: the invitation was used meanwhile.
func (s *Pages) setPasswordAndSignIn(p *frame.Page, i account.Invitation, u imagegen.User, hash, said string) error {
	// The link is used up first, so that of two browsers only one sets a password. After that the password must be set,
	// even if the browser hangs up.
	p.Detach()
	p.SetActor(u)
	if _, err := p.Logins.TakeInvitation(p.Context(), i.Hash, p.Now); err != nil {
		return err
	}
	if err := s.setLogin(p, account.Login{User: u.ID, Role: i.Role, Password: hash, ChangedAt: p.Now}); err != nil {
		return err
	}
	return s.signInOrAskPasskey(p,
		pendingSignIn{User: u.ID, Password: hash, Confirmed: p.Now, Next: p.Root, Message: said})
}

func (s *Pages) setLogin(p *frame.Page, l account.Login) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	return p.Logins.SetLogin(p.Context(), l)
}

// invalidLink answers ErrNotFound with a page that explains why a link may not work. Other errors, and nil, are
// returned.
func invalidLink(p *frame.Page, err error) error {
	if !errors.Is(err, imagegen.ErrNotFound) {
		return err
	}
	return p.RenderStatus(http.StatusNotFound, "spent", nil)
}

// SignInLinkForm shows a button instead of signing in at once: programs that preview links must not use one up.
func (s *Pages) SignInLinkForm(p *frame.Page) error {
	_, u, err := invitedUser(p, link.SignInHash(p.Request.PathValue("token")))
	if err != nil {
		return invalidLink(p, err)
	}
	return p.Render("entry", u)
}

// UseSignInLink signs the user of a link in. The sign-in counts as unconfirmed: somebody who has the link has not
// proved their identity, so actions that ask for a password still do. A passkey changes that only if it verifies its
// user.
func (s *Pages) UseSignInLink(p *frame.Page) error {
	i, u, err := invitedUser(p, link.SignInHash(p.Request.PathValue("token")))
	if err != nil {
		return invalidLink(p, err)
	}
	p.Detach() // once the link is used up, finish the sign-in
	p.SetActor(u)
	// The login is read before the link is used up. If the password changes in between, createSignIn notices.
	login, err := p.Login(p.Context(), u.ID)
	if err != nil {
		return err
	}
	if _, err := p.Logins.TakeInvitation(p.Context(), i.Hash, p.Now); err != nil {
		return invalidLink(p, err)
	}
	return s.signInOrAskPasskey(p, pendingSignIn{User: u.ID, Password: login.Password, Next: p.Root})
}

// SetPassword is console.SetPassword.
func SetPassword(ctx context.Context, logins account.LoginStore, u imagegen.UserID, role account.Role,
	secret imagegen.Secret) error {
	if wrong := passwordFault(secret.Reveal()); wrong != "" {
		return imagegen.Invalid("%s", wrong)
	}
	hash, err := password.NewHasher().Hash(ctx, secret.Reveal())
	if err != nil {
		return err
	}
	return logins.SetLogin(ctx, account.Login{User: u, Role: role, Password: hash, ChangedAt: time.Now()})
}

func (s *Pages) SetupForm(p *frame.Page) error {
	if _, err := setupInvitation(p); err != nil {
		return invalidLink(p, err)
	}
	return p.Render("setup", form.Filled())
}

// Setup creates the first operator. The user is created before the link is used up, so that a name that is taken
// leaves the link usable. If two browsers send the form at once, one wins the link; the other's user stays, without a
// password.
func (s *Pages) Setup(p *frame.Page, f *form.Form) error {
	i, err := setupInvitation(p)
	if err != nil {
		return invalidLink(p, err)
	}
	u, hash, err := s.createFirstOperator(p, f)
	if err != nil {
		return err
	}
	if !f.Valid() {
		return p.RenderForms("setup", f, f)
	}
	return invalidLink(p, s.setPasswordAndSignIn(p, i, u, hash, "Welcome. You are the operator of this service."))
}

// setupInvitation returns the invitation of a set-up that is still to be done. ErrNotFound: there is none, it belongs
// to a user, or there is an operator by now.
func setupInvitation(p *frame.Page) (account.Invitation, error) {
	i, err := p.Logins.Invitation(p.Context(), invitationHash(p), p.Now)
	if err != nil {
		return i, err
	}
	// Another link of the same kind may have been used, or a password set by SetPassword.
	n, err := p.Logins.Operators(p.Context())
	if err == nil && (i.User != "" || n > 0) {
		err = imagegen.ErrNotFound
	}
	return i, err
}

// createFirstOperator creates the user that the form names, unless the form has faults. The password is hashed first,
// so that a failure to hash does not leave a user of that name behind.
func (s *Pages) createFirstOperator(p *frame.Page, f *form.Form) (u imagegen.User, hash string, err error) {
	chosen := newPassword(f)
	if f.Value("name") == "" {
		f.AddFault("name", "Choose a name to sign in with.")
	}
	if !f.Valid() {
		return u, "", nil
	}
	if hash, err = s.Passwords.Hash(p.Context(), chosen); err != nil {
		return u, "", err
	}
	u, err = p.CreateUser(f)
	return u, hash, err
}
