package console

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// InvitationLink makes a link with which anybody who has it can choose the password of a user. The link works once,
// until it expires, and an earlier link of the user stops working. InvitationLink returns the link's path below
// [Config.Path]. The error is the LoginStore's. InvitationLink does not check that the user exists: the link of a user
// who does not exist, or is disabled, is invalid.
//
// Nothing changes until the link is used: an existing password keeps working, with its role. Using the link gives the
// user the new role and signs them out everywhere else.
func InvitationLink(ctx context.Context, logins account.LoginStore, u imagegen.UserID, role account.Role, expires time.Time) (path string, err error) {
	return invite(ctx, logins, "invitation/", account.Invitation{User: u, Role: role, ExpiresAt: expires})
}

// invite stores an invitation under the hash of a new token and returns the path of its link, which begins with below.
func invite(ctx context.Context, logins account.LoginStore, below string, i account.Invitation) (path string, err error) {
	var token string
	token, i.Hash = newToken()
	if err := logins.CreateInvitation(ctx, i); err != nil {
		return "", err
	}
	return below + token, nil
}

// invitationView is the data of invitation.html.
type invitationView struct {
	Form *form
	Name string
}

func (c *Console) invitationForm(p *page) error {
	_, u, err := c.invited(p, p.invitationHash())
	if err != nil {
		return p.invalidLink(err)
	}
	return p.render("invitation", invitationView{filled(), u.Name})
}

// acceptInvitation sets the chosen password and signs the user in. A user who had a password is told when that was set:
// if somebody else used a link meanwhile, they find out.
func (c *Console) acceptInvitation(p *page) error {
	i, u, err := c.invited(p, p.invitationHash())
	if err != nil {
		return p.invalidLink(err)
	}
	f, err := p.form()
	if err != nil {
		return err
	}
	chosen := f.newPassword()
	if !f.valid() {
		return p.renderStatus(http.StatusUnprocessableEntity, "invitation", invitationView{f, u.Name})
	}
	// Everything that can be refused comes before accept, which uses up the link.
	hash, err := c.passwords.Hash(p.context(), chosen)
	if err != nil {
		return err
	}
	former, err := c.login(p.context(), u.ID)
	if err != nil {
		return err
	}
	said := "Your password is set, and you are signed in."
	if former.Password != "" {
		said += " The one before was set on " + inFull(former.ChangedAt) + "; if that was not you, tell the operator."
	}
	return p.invalidLink(p.accept(i, u, hash, said))
}

// invited returns the invitation with a hash, and the user who is invited. ErrNotFound: there is none, it has expired,
// or the user is disabled.
func (c *Console) invited(p *page, hash [32]byte) (account.Invitation, imagegen.User, error) {
	i, err := c.cfg.Logins.Invitation(p.context(), hash, p.now)
	if err != nil {
		return i, imagegen.User{}, err
	}
	u, err := c.cfg.Engine.Accounts().User(p.context(), i.User) // the invitation of a set-up has no user: ErrNotFound
	if err == nil && !u.DisabledAt.IsZero() {
		err = imagegen.ErrNotFound
	}
	return i, u, err
}

func (p *page) invitationHash() [32]byte { return sha256.Sum256([]byte(p.r.PathValue("token"))) }

// accept uses up an invitation, sets the password whose hash is given, and signs the user in. said is shown on the next
// page. ErrNotFound: the invitation was used meanwhile.
func (p *page) accept(i account.Invitation, u imagegen.User, hash, said string) error {
	// The link is used up first, so that of two browsers only one sets a password. After that the password must be set,
	// even if the browser hangs up.
	p.r = p.r.WithContext(context.WithoutCancel(p.context()))
	p.act(u)
	ctx := p.context()
	if _, err := p.c.cfg.Logins.TakeInvitation(ctx, i.Hash, p.now); err != nil {
		return err
	}
	if err := p.c.setLogin(ctx, account.Login{User: u.ID, Role: i.Role, Password: hash, ChangedAt: p.now}); err != nil {
		return err
	}
	return p.admit(pendingSignIn{user: u.ID, password: hash, confirmed: p.now, next: p.c.cfg.Path, message: said})
}

// setLogin replaces a login; see Console.changing.
func (c *Console) setLogin(ctx context.Context, l account.Login) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	return c.cfg.Logins.SetLogin(ctx, l)
}

// invalidLink answers ErrNotFound with a page that explains why a link may not work. Other errors, and nil, are
// returned.
func (p *page) invalidLink(err error) error {
	if !errors.Is(err, imagegen.ErrNotFound) {
		return err
	}
	return p.renderStatus(http.StatusNotFound, "spent", nil)
}
