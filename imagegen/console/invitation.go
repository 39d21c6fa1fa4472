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

// InvitationLink makes a link by which its holder chooses the password of a user, once, until it expires; an
// earlier link of the user stops working. It returns the link's path below [Config.Path]. An error is
// that of the LoginStore; the link of a user who is not there, or is disabled, leads nowhere.
//
// Until the link is used nothing changes: a former password works, with its role. When it is used, the
// user has the new role and is signed out everywhere else.
func InvitationLink(ctx context.Context, logins account.LoginStore, u imagegen.UserID, role account.Role, expires time.Time) (path string, err error) {
	return invite(ctx, logins, "invitation/", account.Invitation{User: u, Role: role, ExpiresAt: expires})
}

func invite(ctx context.Context, logins account.LoginStore, below string, i account.Invitation) (path string, err error) {
	var token string
	token, i.Hash = newToken()
	if err := logins.CreateInvitation(ctx, i); err != nil {
		return "", err
	}
	return below + token, nil
}

// invitationView is what invitation.html is given.
type invitationView struct {
	Form *form
	Name string
}

func (c *Console) invitationForm(p *page) error {
	_, u, err := c.invited(p)
	if err != nil {
		return p.invalidLink(err)
	}
	return p.render("invitation", invitationView{filled(), u.Name})
}

func (c *Console) acceptInvitation(p *page) error {
	i, u, err := c.invited(p)
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

// invited returns the invitation that the address names, and the user who is invited.
func (c *Console) invited(p *page) (account.Invitation, imagegen.User, error) {
	i, err := c.cfg.Logins.Invitation(p.context(), p.invitationHash(), p.now)
	if err != nil {
		return i, imagegen.User{}, err
	}
	u, err := c.cfg.Engine.Accounts().User(p.context(), i.User) // a set-up has none
	if err == nil && !u.DisabledAt.IsZero() {
		err = imagegen.ErrNotFound
	}
	return i, u, err
}

func (p *page) invitationHash() [32]byte { return sha256.Sum256([]byte(p.r.PathValue("token"))) }

// accept uses an invitation up, sets the password that was hashed and signs the user in, who is told so.
func (p *page) accept(i account.Invitation, u imagegen.User, hash, said string) error {
	// What is begun is seen through: a link that is used up must have set a password.
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

func (c *Console) setLogin(ctx context.Context, l account.Login) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	return c.cfg.Logins.SetLogin(ctx, l)
}

// invalidLink answers for a link that leads nowhere. Other errors are returned.
func (p *page) invalidLink(err error) error {
	if !errors.Is(err, imagegen.ErrNotFound) {
		return err
	}
	return p.renderStatus(http.StatusNotFound, "spent", nil)
}
