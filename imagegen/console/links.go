package console

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/link"
	"github.com/imagegend/imagegend/imagegen/console/internal/signin"
)

// SetupLink makes the link with which the first operator chooses a name and a password. The link works once, until it
// expires, and an earlier one stops working. SetupLink returns the link's path below [Config.Path], or "" if there
// already is an operator with a password. The error is the LoginStore's.
func SetupLink(ctx context.Context, logins account.LoginStore, expires time.Time) (path string, err error) {
	n, err := logins.Operators(ctx)
	if err != nil || n > 0 {
		return "", err
	}
	return link.Store(ctx, logins, "setup/", link.InvitationHash,
		account.Invitation{Role: account.RoleOperator, ExpiresAt: expires})
}

// InvitationLink makes a link with which anybody who has it can choose the password of a user. The link works once,
// until it expires, and an earlier link of the user stops working. InvitationLink returns the link's path below
// [Config.Path]. The error is the LoginStore's. InvitationLink does not check that the user exists: the link of a user
// who does not exist, or is disabled, is invalid.
//
// Nothing changes until the link is used: an existing password keeps working, with its role. Using the link gives the
// user the new role and signs them out everywhere else.
func InvitationLink(ctx context.Context, logins account.LoginStore, u imagegen.UserID, role account.Role,
	expires time.Time) (path string, err error) {
	return link.Invitation(ctx, logins, u, role, expires)
}

// SignInLink makes a link that signs a user in without a password. Use it for a service that only its own user can
// reach, or for a user whom your program has authenticated. The link works once, until it expires. SignInLink returns
// the link's path below [Config.Path].
//
// If the user has no login, SignInLink creates one with the given role; an existing login keeps its role. An earlier
// link of the user, including one of [InvitationLink], stops working. The error is the LoginStore's. SignInLink does
// not check that the user exists: the link of a user who does not exist, or is disabled, is invalid.
func SignInLink(ctx context.Context, logins account.LoginStore, u imagegen.UserID, role account.Role,
	expires time.Time) (path string, err error) {
	login, err := logins.Login(ctx, u)
	if errors.Is(err, imagegen.ErrNotFound) {
		login = account.Login{User: u, Role: role}
		err = logins.SetLogin(ctx, login)
	}
	if err != nil {
		return "", err
	}
	return link.Store(ctx, logins, "entry/", link.SignInHash,
		account.Invitation{User: u, Role: login.Role, ExpiresAt: expires})
}

// SetPassword gives a user a role and a password without a link, for unattended set-up. All sign-ins of the user end.
// SetPassword does not check that the user exists. ErrInvalidRequest: the password is not valid UTF-8, has fewer than
// 12 or more than 200 characters, or has fewer than 5 different characters. Other errors are those of the LoginStore
// and of ctx.
func SetPassword(ctx context.Context, logins account.LoginStore, u imagegen.UserID, role account.Role,
	secret imagegen.Secret) error {
	return signin.SetPassword(ctx, logins, u, role, secret)
}
