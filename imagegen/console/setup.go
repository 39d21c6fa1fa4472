package console

import (
	"context"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/password"
)

// SetupLink makes the link with which the first operator chooses a name and a password. The link works once, until it
// expires, and an earlier one stops working. SetupLink returns the link's path below [Config.Path], or "" if there
// already is an operator with a password. The error is the LoginStore's.
func SetupLink(ctx context.Context, logins account.LoginStore, expires time.Time) (path string, err error) {
	n, err := logins.Operators(ctx)
	if err != nil || n > 0 {
		return "", err
	}
	return invite(ctx, logins, "setup/", account.Invitation{Role: account.RoleOperator, ExpiresAt: expires})
}

// SetPassword gives a user a role and a password without a link, for unattended set-up. All sign-ins of the user end.
// SetPassword does not check that the user exists. ErrInvalidRequest: the password is not valid UTF-8, has fewer than
// 12 or more than 200 characters, or has fewer than 5 different characters. Other errors are those of the LoginStore and
// of ctx.
func SetPassword(ctx context.Context, logins account.LoginStore, u imagegen.UserID, role account.Role, secret imagegen.Secret) error {
	if wrong := unfit(secret.Reveal()); wrong != "" {
		return imagegen.Invalid("%s", wrong)
	}
	hash, err := password.NewHasher().Hash(ctx, secret.Reveal())
	if err != nil {
		return err
	}
	return logins.SetLogin(ctx, account.Login{User: u, Role: role, Password: hash, ChangedAt: time.Now()})
}

// setupView is the data of setup.html.
type setupView struct{ Form *form }

func (c *Console) setupForm(p *page) error {
	if _, err := c.setupInvitation(p); err != nil {
		return p.invalidLink(err)
	}
	return p.render("setup", setupView{filled()})
}

// setup creates the first operator. The user is created before the link is used up, so that a name that is taken
// leaves the link usable. If two browsers send the form at once, one wins the link; the other's user stays, without a
// password.
func (c *Console) setup(p *page) error {
	i, err := c.setupInvitation(p)
	if err != nil {
		return p.invalidLink(err)
	}
	f, err := p.form()
	if err != nil {
		return err
	}
	u, hash, err := c.createFirstOperator(p, f)
	if err != nil {
		return err
	}
	if !f.valid() {
		return p.renderStatus(http.StatusUnprocessableEntity, "setup", setupView{f})
	}
	return p.invalidLink(p.accept(i, u, hash, "Welcome. You are the operator of this service."))
}

// setupInvitation returns the invitation of a set-up that is still to be done. ErrNotFound: there is none, it belongs
// to a user, or there is an operator by now.
func (c *Console) setupInvitation(p *page) (account.Invitation, error) {
	i, err := c.cfg.Logins.Invitation(p.context(), p.invitationHash(), p.now)
	if err != nil {
		return i, err
	}
	// Another link of the same kind may have been used, or a password set by SetPassword.
	n, err := c.cfg.Logins.Operators(p.context())
	if err == nil && (i.User != "" || n > 0) {
		err = imagegen.ErrNotFound
	}
	return i, err
}

// createFirstOperator creates the user that the form names, unless the form has faults. The password is hashed first,
// so that a failure to hash does not leave a user of that name behind.
func (c *Console) createFirstOperator(p *page, f *form) (u imagegen.User, hash string, err error) {
	chosen := f.newPassword()
	if f.Value("name") == "" {
		f.addFault("name", "Choose a name to sign in with.")
	}
	if !f.valid() {
		return u, "", nil
	}
	if hash, err = c.passwords.Hash(p.context(), chosen); err != nil {
		return u, "", err
	}
	u, err = c.addUser(p, f)
	return u, hash, err
}
