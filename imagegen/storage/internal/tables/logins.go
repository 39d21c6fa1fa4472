package tables

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

var _ account.LoginStore = (*Tables)(nil)

// How users sign in: a password and a role for each, and the links that invite them, found by their hash.
var (
	logins = table.New("logins", func(l *account.Login) []byte { return kv.Key(string(l.User)) }, codeLogin).
		Witnessed()
	invitations = table.New("invitations", func(i *account.Invitation) []byte { return i.Hash[:] }, codeInvitation).
			Witnessed()
	userInvitations = invitations.Index("users", func(i *account.Invitation) []byte { return kv.Key(string(i.User)) })
)

// Login implements [account.LoginStore].
func (t *Tables) Login(ctx context.Context, u imagegen.UserID) (account.Login, error) {
	return view(ctx, t.db, func(tx kv.Tx) (account.Login, error) { return logins.Get(tx, kv.Key(string(u))) })
}

// SetLogin implements [account.LoginStore]. It ends the user's sign-ins also if the former login cannot be read, since
// the password may be another. imagegen.ErrInvalidRequest: the user's identifier is not valid.
func (t *Tables) SetLogin(ctx context.Context, l account.Login) error {
	if err := l.User.Check(); err != nil {
		return err
	}
	return t.act(ctx, account.ActUserPassword, func(tx kv.Tx) (trail.Change, error) {
		former, err := logins.Get(tx, kv.Key(string(l.User)))
		if err != nil || former.Password != l.Password {
			endSignIns(tx, signInsOf(tx, l.User)...)
		}
		logins.Put(tx, nil, &l)
		return trail.LoginSet(former, l), nil
	})
}

// Operators implements [account.LoginStore].
func (t *Tables) Operators(ctx context.Context) (int, error) {
	return view(ctx, t.db, func(tx kv.Tx) (n int, err error) {
		for l, err := range logins.All(tx) {
			if err != nil {
				return n, err
			}
			if l.Role != account.RoleOperator || l.Password == "" {
				continue
			}
			u, err := loadUser(tx, l.User)
			// a user whom this store does not know is the embedder's
			if err != nil && !errors.Is(err, imagegen.ErrNotFound) {
				return n, err
			}
			if u.DisabledAt.IsZero() {
				n++
			}
		}
		return n, nil
	})
}

// CreateInvitation implements [account.LoginStore]. A user has one invitation at most.
func (t *Tables) CreateInvitation(ctx context.Context, i account.Invitation) error {
	return t.act(ctx, account.ActUserInvite, func(tx kv.Tx) (trail.Change, error) {
		former, err := userInvitations.Find(tx, kv.Key(string(i.User)))
		switch {
		case err == nil && former.Hash == i.Hash:
			return trail.Change{}, nil
		case err == nil:
			invitations.Remove(tx, &former)
		case !errors.Is(err, imagegen.ErrNotFound):
			return trail.Change{}, err
		}
		invitations.Put(tx, nil, &i)
		return trail.Invited(i), nil
	})
}

// Invitation implements [account.LoginStore].
func (t *Tables) Invitation(ctx context.Context, hash [32]byte, now time.Time) (account.Invitation, error) {
	return view(ctx, t.db, func(tx kv.Tx) (account.Invitation, error) { return liveInvitation(tx, hash, now) })
}

// TakeInvitation implements [account.LoginStore]. Reading and removing are one transaction, so only one caller gets
// the invitation.
func (t *Tables) TakeInvitation(ctx context.Context, hash [32]byte, now time.Time) (i account.Invitation, err error) {
	err = t.act(ctx, account.ActUserAccept, func(tx kv.Tx) (c trail.Change, err error) {
		if i, err = liveInvitation(tx, hash, now); err != nil {
			return c, err
		}
		invitations.Remove(tx, &i)
		return trail.Accepted(i), nil
	})
	return i, err
}

// liveInvitation reads an invitation. imagegen.ErrNotFound: there is none, or it has expired.
func liveInvitation(tx kv.Tx, hash [32]byte, now time.Time) (account.Invitation, error) {
	i, err := invitations.Get(tx, hash[:])
	if err == nil && !now.Before(i.ExpiresAt) {
		return account.Invitation{}, imagegen.ErrNotFound
	}
	return i, err
}
