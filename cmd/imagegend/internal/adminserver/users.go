package adminserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/console"
)

// createUser makes the user and the grant in two transactions. If the second fails, the error says so, and the user
// exists without the credits.
func (l *Local) createUser(ctx context.Context, n admin.NewUser) (admin.User, error) {
	if n.Credits != 0 && !n.Credits.Valid() {
		return admin.User{}, errAmount(n.Credits)
	}
	u, err := l.Engine.Accounts().CreateUser(ctx, n.Name, n.AccountType)
	switch {
	case errors.Is(err, imagegen.ErrExists):
		return admin.User{}, refusal("a user %q exists already; nothing was changed", n.Name)
	case err != nil:
		return admin.User{}, words(err)
	}
	if n.Credits != 0 {
		if _, err := l.DB.Grant(ctx, imagegen.Grant{User: u.ID, Credits: n.Credits,
			Priority: imagegen.DefaultPriority}); err != nil {
			return admin.User{},
				fmt.Errorf("the user %q was created, but the credits were not granted: %w; use imagegend credit grant",
					n.Name, words(err))
		}
	}
	return l.view(ctx, u)
}

func (l *Local) listUsers(ctx context.Context, _ admin.None) ([]admin.User, error) {
	all, err := l.Engine.Accounts().Users(ctx)
	if err != nil {
		return nil, words(err)
	}
	users := make([]admin.User, len(all))
	for i, u := range all {
		if users[i], err = l.view(ctx, u); err != nil {
			return nil, err
		}
	}
	return users, nil
}

// view adds balance and role to a user. Each is a read of its own, so they need not be of the same moment.
func (l *Local) view(ctx context.Context, u imagegen.User) (admin.User, error) {
	b, err := l.DB.Balance(ctx, u.ID)
	if err != nil {
		return admin.User{}, words(err)
	}
	role, err := l.role(ctx, u.ID)
	view := admin.User{ID: u.ID, Name: u.Name, AccountType: u.AccountType, Role: role, Credits: b.Credits,
		CreatedAt: at(u.CreatedAt), DisabledAt: at(u.DisabledAt), SuspendedAt: at(u.SuspendedAt),
		NotifyBelow: u.NotifyBelow}
	if err != nil || u.Sponsor == "" {
		return view, err
	}
	sponsor, err := l.Engine.Accounts().User(ctx, u.Sponsor)
	view.Sponsor, view.Limits = sponsor.Name, new(admin.KeyLimits(u.Limits))
	view.AccountType = cmp.Or(u.AccountType, sponsor.AccountType)
	return view, words(err)
}

func (l *Local) setSponsor(ctx context.Context, s admin.Sponsorship) (admin.User, error) {
	var by imagegen.UserID
	if s.Sponsor != "" {
		sponsor, err := l.user(ctx, s.Sponsor)
		if err != nil {
			return admin.User{}, err
		}
		by = sponsor.ID
	}
	return l.changing(func(ctx context.Context, id imagegen.UserID) error {
		return l.Engine.SetSponsor(ctx, id, by, imagegen.KeyLimits(s.Limits))
	})(ctx, s.User)
}

// listMembers reads page by page, so that no transaction is as long as the list.
func (l *Local) listMembers(ctx context.Context, sponsor string) ([]admin.Member, error) {
	u, err := l.user(ctx, sponsor)
	if err != nil {
		return nil, err
	}
	members := []admin.Member{}
	for q := (imagegen.UserQuery{Sponsor: u.ID, Limit: imagegen.MaxPageSize}); ; {
		p, err := l.Engine.Accounts().UserPage(ctx, q)
		if err != nil {
			return nil, words(err)
		}
		for _, m := range p.Users {
			used, err := l.DB.MemberUse(ctx, u.ID, m.ID)
			if err != nil {
				return nil, words(err)
			}
			members = append(members, admin.Member{ID: m.ID, Name: m.Name, Display: m.Display,
				Limits: admin.KeyLimits(m.Limits), Used: admin.KeyUse(used), DisabledAt: at(m.DisabledAt),
				SuspendedAt: at(m.SuspendedAt)})
		}
		if q.After = p.Next; q.After == "" {
			return members, nil
		}
	}
}

func (l *Local) setAccountType(ctx context.Context, t admin.AccountType) (admin.User, error) {
	return l.changing(func(ctx context.Context, id imagegen.UserID) error {
		return l.Engine.Accounts().SetAccountType(ctx, id, t.Type)
	})(ctx, t.User)
}

func (l *Local) removePasskeys(ctx context.Context, id imagegen.UserID) error {
	_, err := l.DB.RemovePasskeys(ctx, id)
	return err
}

// changing returns a function that looks a user up by name, applies f to the identifier, and returns the user as it is
// afterwards.
func (l *Local) changing(f func(context.Context, imagegen.UserID) error) func(context.Context, string) (admin.User,
	error) {
	return func(ctx context.Context, name string) (admin.User, error) {
		u, err := l.user(ctx, name)
		if err != nil {
			return admin.User{}, err
		}
		if err := f(ctx, u.ID); err != nil {
			return admin.User{}, words(err)
		}
		if u, err = l.user(ctx, name); err != nil {
			return admin.User{}, err
		}
		return l.view(ctx, u)
	}
}

// user looks a user up by name. The error of a missing user says how to list them, and is an ErrNotFound.
func (l *Local) user(ctx context.Context, name string) (imagegen.User, error) {
	u, err := l.Engine.Accounts().UserByName(ctx, name)
	return u, missing(err, "there is no user %q; imagegend user list shows them all", name)
}

// inviteUser changes nothing until the link is used: an old password still works, and a user who is to become an
// operator becomes one by using the link.
func (l *Local) inviteUser(ctx context.Context, i admin.Invitation) (admin.Link, error) {
	// A link would lead nowhere while the console is turned off.
	if l.NoConsole {
		return admin.Link{}, refusal("the running server has no console; restart it with --console=true")
	}
	switch now := time.Now(); {
	case i.Expires.IsZero():
		i.Expires.Time = now.Add(admin.InvitationAge)
	// It would be useless, and make an earlier link so too.
	case !i.Expires.After(now):
		return admin.Link{}, imagegen.Invalid("the link would have expired at %s already; name a later time",
			i.Expires.UTC().Format(time.RFC3339))
	}
	u, err := l.user(ctx, i.User)
	if err != nil {
		return admin.Link{}, err
	}
	if !u.DisabledAt.IsZero() {
		return admin.Link{}, refusal("the user %q is disabled; a link would lead nowhere", i.User)
	}
	role, err := l.role(ctx, u.ID)
	if i.Operator {
		role = account.RoleOperator
	}
	if err != nil {
		return admin.Link{}, err
	}
	// Without a server the address of the console is not known. The command then completes the path.
	path, err := console.InvitationLink(ctx, l.DB, u.ID, role, i.Expires.Time)
	return admin.Link{Address: cmp.Or(l.Console, console.DefaultPath) + path, Role: role}, words(err)
}

// role returns the present role of a user. One who cannot sign in to the console yet is an ordinary user.
func (l *Local) role(ctx context.Context, u imagegen.UserID) (account.Role, error) {
	login, err := l.DB.Login(ctx, u)
	if errors.Is(err, imagegen.ErrNotFound) {
		return account.RoleUser, nil
	}
	return login.Role, words(err)
}
