package admin

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

// InvitationAge is how long a link works unless somebody says otherwise.
const InvitationAge = 72 * time.Hour

// InviteUser implements Service. Nothing changes until the link is used: an old password still works, and a user who
// is to become an operator becomes one by using the link.
func (l *Local) InviteUser(ctx context.Context, i Invitation) (Link, error) {
	// A link would lead nowhere while the console is turned off.
	if l.NoConsole {
		return Link{}, refusal("the running server has no console; restart it with --console=true")
	}
	switch now := time.Now(); {
	case i.Expires.IsZero():
		i.Expires.Time = now.Add(InvitationAge)
	// It would be useless, and make an earlier link so too.
	case !i.Expires.After(now):
		return Link{}, imagegen.Invalid("the link would have expired at %s already; name a later time", i.Expires.UTC().Format(time.RFC3339))
	}
	u, err := l.user(ctx, i.User)
	if err != nil {
		return Link{}, err
	}
	if !u.DisabledAt.IsZero() {
		return Link{}, refusal("the user %q is disabled; a link would lead nowhere", i.User)
	}
	role, err := l.role(ctx, u.ID)
	if i.Operator {
		role = account.RoleOperator
	}
	if err != nil {
		return Link{}, err
	}
	// Without a server the address of the console is not known. The command then completes the path.
	path, err := console.InvitationLink(ctx, l.DB, u.ID, role, i.Expires.Time)
	return Link{cmp.Or(l.Console, console.DefaultPath) + path, role}, words(err)
}

// role returns the present role of a user. One who cannot sign in to the console yet is an ordinary user.
func (l *Local) role(ctx context.Context, u imagegen.UserID) (account.Role, error) {
	login, err := l.DB.Login(ctx, u)
	if errors.Is(err, imagegen.ErrNotFound) {
		return account.RoleUser, nil
	}
	return login.Role, words(err)
}
