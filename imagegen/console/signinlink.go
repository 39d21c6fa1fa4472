package console

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// SignInLink makes a link that signs a user in without a password. Use it for a service that only its own user can
// reach, or for a user whom your program has authenticated. The link works once, until it expires. SignInLink returns
// the link's path below [Config.Path].
//
// If the user has no login, SignInLink creates one with the given role; an existing login keeps its role. An earlier
// link of the user, including one of [InvitationLink], stops working. The error is the LoginStore's. SignInLink does not
// check that the user exists: the link of a user who does not exist, or is disabled, is invalid.
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

// signInLinkHash hashes the token of a sign-in link. The prefix keeps the kinds of link apart: an invitation's token
// used as a sign-in link finds nothing, and the other way round.
func signInLinkHash(token string) [32]byte { return sha256.Sum256([]byte("entry " + token)) }

// signInLinkForm shows a button instead of signing in at once: programs that preview links must not use one up.
func (c *Console) signInLinkForm(p *page) error {
	_, u, err := c.invited(p, signInLinkHash(p.r.PathValue("token")))
	if err != nil {
		return p.invalidLink(err)
	}
	return p.render("entry", u)
}

// useSignInLink signs the user of a link in. The sign-in counts as unconfirmed: whoever has the link has not proved
// their identity, so actions that ask for a password still do.
func (c *Console) useSignInLink(p *page) error {
	i, u, err := c.invited(p, signInLinkHash(p.r.PathValue("token")))
	if err != nil {
		return p.invalidLink(err)
	}
	p.r = p.r.WithContext(context.WithoutCancel(p.context())) // once the link is used up, finish the sign-in
	p.act(u)
	// The login is read before the link is used up. If the password changes in between, createSignIn notices.
	login, err := c.login(p.context(), u.ID)
	if err != nil {
		return err
	}
	if _, err := c.cfg.Logins.TakeInvitation(p.context(), i.Hash, p.now); err != nil {
		return p.invalidLink(err)
	}
	return p.admit(pendingSignIn{user: u.ID, password: login.Password, next: c.cfg.Path})
}
