package signin

import (
	"cmp"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/seal"
)

// signInAs signs in the user who is connected with an identity at the provider. ErrInvalidRequest: there is none, and
// none may be created, or the user is disabled.
func (s *Pages) signInAs(p *frame.Page, identity Identity, next string) error {
	u, err := s.userOfIdentity(p, identity)
	if err != nil {
		return err
	}
	// Before a login is made: somebody who is disabled must not get one.
	if !u.DisabledAt.IsZero() {
		p.CountFailedSignIn(u.Name)
		return imagegen.Invalid("the user %s is disabled", u.Name)
	}
	p.SetActor(u)
	login, err := s.loginWithRole(p, u.ID, identity.Role)
	if err != nil {
		return err
	}
	// The provider may have sent back at once somebody who signed in there hours ago: that confirms nothing.
	confirmed := identity.AuthenticatedAt
	if confirmed.IsZero() || confirmed.After(p.Now) { // it does not say when, or its clock is ahead
		confirmed = p.Now
	}
	return s.signInOrAskPasskey(p,
		pendingSignIn{User: u.ID, Password: login.Password, Confirmed: confirmed, Next: next})
}

// userOfIdentity finds the user connected with an identity, or creates one if Config.ProvisionUsers is set. Only issuer
// and subject count. Names and mail addresses may pass from one person to another, so they never find an existing user.
func (s *Pages) userOfIdentity(p *frame.Page, identity Identity) (imagegen.User, error) {
	known, err := p.Logins.Identity(p.Context(), s.IdentityProvider.Issuer(), identity.Subject)
	switch {
	case err == nil:
		return p.Engine.Accounts().User(p.Context(), known.User)
	case !errors.Is(err, imagegen.ErrNotFound):
		return imagegen.User{}, err
	case !s.ProvisionUsers:
		p.CountFailedSignIn("")
		return imagegen.User{}, imagegen.Invalid("no user here is connected with who you are at %s; "+
			"sign in with your password and connect it on the page of your account, or ask the operator",
			s.IdentityProvider.Name())
	}
	return s.createNewcomer(p, identity)
}

// createNewcomer creates a user for an identity that is new here. A name that is taken is refused: somebody who has
// that user's password can connect the identity.
func (s *Pages) createNewcomer(p *frame.Page, identity Identity) (imagegen.User, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	// User and identity are two writes. If the second fails, the user stays without an identity, and the name is
	// taken at the next sign-in: then an operator has to help.
	u, err := p.Engine.Accounts().CreateUser(p.Context(), identity.Name, "")
	if errors.Is(err, imagegen.ErrExists) {
		p.CountFailedSignIn("")
		return u, imagegen.Invalid("there is a user %s here already; if it is you, "+
			"sign in with your password and connect it on the page of your account", identity.Name)
	}
	if err != nil {
		return u, err
	}
	p.SetActor(u)
	return u, s.storeIdentity(p, identity, u.ID)
}

// storeIdentity connects an identity with a user.
func (s *Pages) storeIdentity(p *frame.Page, identity Identity, u imagegen.UserID) error {
	return p.Logins.CreateIdentity(p.Context(),
		account.Identity{Issuer: s.IdentityProvider.Issuer(), Subject: identity.Subject, User: u, CreatedAt: p.Now})
}

// loginWithRole returns a user's login, creating one if there is none. If the provider decides roles, the login is
// given that role at each sign-in; with "" it keeps its own.
func (s *Pages) loginWithRole(p *frame.Page, u imagegen.UserID, role account.Role) (account.Login, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	login, err := p.Logins.Login(p.Context(), u)
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
	return login, p.Logins.SetLogin(p.Context(), login)
}

// ConnectProvider offers to go to the provider, in order to connect the person's identity there with their user. It
// shows a link instead of redirecting, since form-action in the Content-Security-Policy also covers where a form's
// redirect leads.
func (s *Pages) ConnectProvider(p *frame.Page) error {
	sealed, err := p.Seal(pendingKind, p.Person.Owner(), seal.WaitTime, pendingAction{Purpose: toConnect})
	if err != nil {
		return err
	}
	return p.Render("connect", sealed)
}

// connectIdentity stores the identity with which the person came back from the provider.
func (s *Pages) connectIdentity(p *frame.Page, identity Identity) error {
	err := s.storeIdentity(p, identity, p.Person.ID)
	if errors.Is(err, imagegen.ErrExists) {
		return imagegen.Invalid("who you are at %s is connected with another user, or you are with somebody else there",
			s.IdentityProvider.Name())
	}
	if err != nil {
		return err
	}
	return p.RedirectWith("You can sign in by "+s.IdentityProvider.Name()+".", "account")
}

// DisconnectProvider removes the person's identity at the provider. Somebody without a password is refused: they could
// not sign in any more.
func (s *Pages) DisconnectProvider(p *frame.Page) error {
	login, err := p.Login(p.Context(), p.Person.ID)
	if err != nil {
		return err
	}
	if login.Password == "" {
		return imagegen.Invalid("you have no password, and could not sign in any more; ask the operator for a link first")
	}
	if err := p.Logins.RemoveIdentity(p.Context(), p.Person.ID, s.IdentityProvider.Issuer()); err != nil {
		return err
	}
	return p.RedirectWith("You sign in with your password alone.", "account")
}
