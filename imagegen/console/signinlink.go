package console

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// SignInLink makes a link that signs a user in, once, until it expires, without a password: for a service
// that only its own user can reach, or for a user whom your program knows already. One who has no login
// yet gets one with that role, at once; who has one keeps theirs. It returns the link's path below
// [Config.Path]; an earlier link of the user, be it one of [InvitationLink], stops working. An error is that of
// the LoginStore; the link of a user who is not there, or is disabled, leads nowhere.
func SignInLink(ctx context.Context, logins account.LoginStore, u imagegen.UserID, role account.Role, expires time.Time) (path string, err error) {
	login, err := logins.Login(ctx, u)
	if errors.Is(err, imagegen.ErrNotFound) {
		login = account.Login{User: u, Role: role}
		err = logins.SetLogin(ctx, login)
	}
	if err != nil {
		return "", err
	}
	token, _ := newToken()
	i := account.Invitation{Hash: signInLinkHash(token), User: u, Role: login.Role, ExpiresAt: expires}
	if err := logins.CreateInvitation(ctx, i); err != nil {
		return "", err
	}
	return "entry/" + token, nil
}

// signInLinkHash differs from what is kept of other links, so that none of them signs anybody in.
func signInLinkHash(token string) [32]byte { return sha256.Sum256([]byte("entry " + token)) }

// signInLinkForm has a button: a link that is merely looked at, by whatever previews links, is not used up.
func (c *Console) signInLinkForm(p *page) error {
	_, u, err := c.signInInvitation(p)
	if err != nil {
		return p.invalidLink(err)
	}
	return p.render("entry", u)
}

func (c *Console) useSignInLink(p *page) error {
	i, u, err := c.signInInvitation(p)
	if err != nil {
		return p.invalidLink(err)
	}
	p.r = p.r.WithContext(context.WithoutCancel(p.context())) // a link that is used up has signed in
	p.act(u)
	login, err := c.login(p.context(), u.ID)
	if err != nil {
		return err
	}
	if _, err := c.cfg.Logins.TakeInvitation(p.context(), i.Hash, p.now); err != nil {
		return p.invalidLink(err)
	}
	return p.admit(pendingSignIn{user: u.ID, password: login.Password, next: c.cfg.Path})
}

// signInInvitation returns the link that the address names, and whom it signs in.
func (c *Console) signInInvitation(p *page) (i account.Invitation, u imagegen.User, err error) {
	i, err = c.cfg.Logins.Invitation(p.context(), signInLinkHash(p.r.PathValue("token")), p.now)
	if err != nil {
		return i, u, err
	}
	u, err = c.cfg.Engine.Accounts().User(p.context(), i.User)
	if err == nil && !u.DisabledAt.IsZero() {
		err = imagegen.ErrNotFound
	}
	return i, u, err
}
