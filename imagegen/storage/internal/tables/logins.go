package tables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

var _ imagegen.LoginStore = (*Tables)(nil)

const loginVersion = 1

// Login implements [imagegen.LoginStore].
func (t *Tables) Login(ctx context.Context, u imagegen.UserID) (imagegen.Login, error) {
	return view(ctx, t.db, func(tx kv.Tx) (imagegen.Login, error) { return loadLogin(tx, u) })
}

// SetLogin implements [imagegen.LoginStore]. imagegen.ErrInvalidRequest: the user's identifier is not valid.
func (t *Tables) SetLogin(ctx context.Context, l imagegen.Login) error {
	if err := l.User.Check(); err != nil {
		return err
	}
	return t.act(ctx, imagegen.ActUserPassword, func(tx kv.Tx) (trail.Change, error) {
		former, err := loadLogin(tx, l.User)
		if err != nil || former.Password != l.Password {
			endSignIns(tx, signInsOf(tx, l.User)...)
		}
		tx.Put(logins, kv.Key(string(l.User)), encodeLogin(l))
		if err == nil && former.Role == l.Role && former.Password == l.Password {
			return trail.Change{}, nil
		}
		return trail.Change{Target: string(l.User), User: l.User, Before: loginFields(former, former), After: loginFields(former, l)}, nil
	})
}

// loginFields tells of a login, and whether the password is another than before: nothing of the password itself.
func loginFields(former, l imagegen.Login) string {
	password := "set"
	switch l.Password {
	case "":
		password = "none"
	case former.Password:
	default:
		password = "new"
	}
	return trail.Fields("role", l.Role, "password", password)
}

// Operators implements [imagegen.LoginStore].
func (t *Tables) Operators(ctx context.Context) (int, error) {
	return view(ctx, t.db, func(tx kv.Tx) (n int, err error) {
		tx.Ascend(logins, nil, func(key, _ []byte) bool {
			var l imagegen.Login
			l, err = loadLogin(tx, userOfKey(key))
			if err == nil && l.Role == imagegen.RoleOperator && l.Password != "" {
				var u imagegen.User
				if u, err = loadUser(tx, l.User); err == nil && u.DisabledAt.IsZero() || errors.Is(err, imagegen.ErrNotFound) {
					n, err = n+1, nil // who is none of this store's users is the embedder's
				}
			}
			return err == nil
		})
		return n, err
	})
}

func encodeLogin(l imagegen.Login) []byte {
	w := form(loginVersion)
	w.String(string(l.Role))
	w.String(l.Password)
	w.Time(l.ChangedAt)
	return w
}

// loadLogin reads a login. imagegen.ErrNotFound.
func loadLogin(tx kv.Tx, u imagegen.UserID) (imagegen.Login, error) {
	b := tx.Get(logins, kv.Key(string(u)))
	if b == nil {
		return imagegen.Login{}, imagegen.ErrNotFound
	}
	in := versioned(b, loginVersion)
	l := imagegen.Login{User: u, Role: imagegen.Role(in.String()), Password: in.String(), ChangedAt: in.Time()}
	if err := in.Err(); err != nil {
		return imagegen.Login{}, fmt.Errorf("tables: login of user %s: %w", u, err)
	}
	return l, nil
}

func userOfKey(key []byte) imagegen.UserID {
	return imagegen.UserID(bytes.TrimSuffix(key, []byte{0}))
}

const invitationVersion = 1

// CreateInvitation implements [imagegen.LoginStore].
func (t *Tables) CreateInvitation(ctx context.Context, i imagegen.Invitation) error {
	return t.act(ctx, imagegen.ActUserInvite, func(tx kv.Tx) (trail.Change, error) {
		user := kv.Key(string(i.User))
		former := tx.Get(userInvitations, user)
		if bytes.Equal(former, i.Hash[:]) {
			return trail.Change{}, nil
		}
		if former != nil {
			tx.Delete(invitations, former)
		}
		tx.Put(invitations, i.Hash[:], encodeInvitation(i))
		tx.Put(userInvitations, user, i.Hash[:])
		return trail.Change{Target: string(i.User), User: i.User, After: invitationFields(i)}, nil
	})
}

// Invitation implements [imagegen.LoginStore].
func (t *Tables) Invitation(ctx context.Context, hash [32]byte, now time.Time) (imagegen.Invitation, error) {
	return view(ctx, t.db, func(tx kv.Tx) (imagegen.Invitation, error) { return loadInvitation(tx, hash, now) })
}

// TakeInvitation implements [imagegen.LoginStore].
func (t *Tables) TakeInvitation(ctx context.Context, hash [32]byte, now time.Time) (i imagegen.Invitation, err error) {
	err = t.act(ctx, imagegen.ActUserAccept, func(tx kv.Tx) (c trail.Change, err error) {
		if i, err = loadInvitation(tx, hash, now); err != nil {
			return c, err
		}
		tx.Delete(invitations, hash[:])
		tx.Delete(userInvitations, kv.Key(string(i.User)))
		return trail.Change{Target: string(i.User), User: i.User, Before: invitationFields(i)}, nil
	})
	return i, err
}

func invitationFields(i imagegen.Invitation) string {
	return trail.Fields("role", i.Role, "expires_at", i.ExpiresAt)
}

func encodeInvitation(i imagegen.Invitation) []byte {
	w := form(invitationVersion)
	w.String(string(i.User))
	w.String(string(i.Role))
	w.Time(i.ExpiresAt)
	return w
}

// loadInvitation reads an invitation. imagegen.ErrNotFound, also when it has expired.
func loadInvitation(tx kv.Tx, hash [32]byte, now time.Time) (imagegen.Invitation, error) {
	b := tx.Get(invitations, hash[:])
	if b == nil {
		return imagegen.Invitation{}, imagegen.ErrNotFound
	}
	in := versioned(b, invitationVersion)
	i := imagegen.Invitation{Hash: hash, User: imagegen.UserID(in.String()), Role: imagegen.Role(in.String()), ExpiresAt: in.Time()}
	if err := in.Err(); err != nil {
		return imagegen.Invitation{}, fmt.Errorf("tables: invitation %x: %w", hash, err)
	}
	if !now.Before(i.ExpiresAt) {
		return imagegen.Invitation{}, imagegen.ErrNotFound
	}
	return i, nil
}
