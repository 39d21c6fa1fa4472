package console

import (
	"cmp"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// signInAs signs in the user who is connected with an identity at the provider. ErrInvalidRequest: there is none, and
// none may be created, or the user is disabled.
func (c *Console) signInAs(p *page, who ExternalIdentity, next string) error {
	u, err := c.userOf(p, who)
	if err != nil {
		return err
	}
	// Before a login is made: somebody who is disabled must not get one.
	if !u.DisabledAt.IsZero() {
		p.signInFailed(u.Name)
		return imagegen.Invalid("the user %s is disabled", u.Name)
	}
	p.act(u)
	login, err := c.loginWithRole(p, u.ID, who.Role)
	if err != nil {
		return err
	}
	return p.admit(pendingSignIn{user: u.ID, password: login.Password, confirmed: p.now, next: next})
}

// userOf finds the user connected with an identity, or creates one if Config.Newcomers is set. Only issuer and subject
// count. Names and mail addresses may pass from one person to another, so they never find an existing user.
func (c *Console) userOf(p *page, who ExternalIdentity) (imagegen.User, error) {
	i, err := c.cfg.Logins.Identity(p.context(), c.cfg.Provider.Issuer(), who.Subject)
	switch {
	case err == nil:
		return c.cfg.Engine.Accounts().User(p.context(), i.User)
	case !errors.Is(err, imagegen.ErrNotFound):
		return imagegen.User{}, err
	case !c.cfg.Newcomers:
		p.signInFailed("")
		return imagegen.User{}, imagegen.Invalid("no user here is connected with who you are at %s; sign in with your password and connect it on the page of your account, "+
			"or ask the operator", c.cfg.Provider.Name())
	}
	return c.newcomer(p, who)
}

// newcomer creates a user for an identity that is new here. A name that is taken is refused: whoever has that user's
// password can connect the identity.
func (c *Console) newcomer(p *page, who ExternalIdentity) (imagegen.User, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	// User and identity are two writes. If the second fails, the user stays without an identity, and the name is
	// taken at the next sign-in: then an operator has to help.
	u, err := c.cfg.Engine.Accounts().CreateUser(p.context(), who.Name, "")
	if errors.Is(err, imagegen.ErrExists) {
		p.signInFailed("")
		return u, imagegen.Invalid("there is a user %s here already; if it is you, sign in with your password and connect it on the page of your account", who.Name)
	}
	if err != nil {
		return u, err
	}
	p.act(u)
	return u, c.cfg.Logins.CreateIdentity(p.context(), account.Identity{Issuer: c.cfg.Provider.Issuer(), Subject: who.Subject, User: u.ID, CreatedAt: p.now})
}

// loginWithRole returns a user's login, creating one if there is none. If the provider decides roles, the login is
// given that role at each sign-in; with "" it keeps its own.
func (c *Console) loginWithRole(p *page, u imagegen.UserID, role account.Role) (account.Login, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	login, err := c.cfg.Logins.Login(p.context(), u)
	none := errors.Is(err, imagegen.ErrNotFound)
	if none {
		login, err = account.Login{User: u, Role: account.RoleUser}, nil
	}
	// Nothing is written if nothing changes: SetLogin is an act in the audit trail.
	role = cmp.Or(role, login.Role)
	if err != nil || !none && login.Role == role {
		return login, err
	}
	login.Role = role
	return login, c.cfg.Logins.SetLogin(p.context(), login)
}

// provider is the name of the identity provider; "": there is none.
func (c *Console) provider() string {
	if c.cfg.Provider == nil {
		return ""
	}
	return c.cfg.Provider.Name()
}

// connect offers to go to the provider, in order to connect the person's identity there with their user. It shows a
// link instead of redirecting, since form-action in the Content-Security-Policy also covers where a form's redirect
// leads.
func (c *Console) connect(p *page) error {
	if c.cfg.Provider == nil {
		return imagegen.ErrNotFound
	}
	token := c.pendingActions.put(pendingAction{purpose: toConnect, signIn: p.person.signIn.Hash}, p.now)
	return p.render("connect", token)
}

// connectIdentity stores the identity with which the person came back from the provider.
func (c *Console) connectIdentity(p *page, who ExternalIdentity) error {
	err := c.cfg.Logins.CreateIdentity(p.context(),
		account.Identity{Issuer: c.cfg.Provider.Issuer(), Subject: who.Subject, User: p.person.ID, CreatedAt: p.now})
	if errors.Is(err, imagegen.ErrExists) {
		return imagegen.Invalid("who you are at %s is connected with another user, or you are with somebody else there", c.cfg.Provider.Name())
	}
	if err != nil {
		return err
	}
	return p.done("You can sign in by "+c.cfg.Provider.Name()+".", "account")
}

// disconnect removes the person's identity at the provider. Somebody without a password is refused: they could not
// sign in any more.
func (c *Console) disconnect(p *page) error {
	if c.cfg.Provider == nil {
		return imagegen.ErrNotFound
	}
	login, err := c.login(p.context(), p.person.ID)
	if err != nil {
		return err
	}
	if login.Password == "" {
		return imagegen.Invalid("you have no password, and could not sign in any more; ask the operator for a link first")
	}
	if err := c.cfg.Logins.RemoveIdentity(p.context(), p.person.ID, c.cfg.Provider.Issuer()); err != nil {
		return err
	}
	return p.done("You sign in with your password alone.", "account")
}
