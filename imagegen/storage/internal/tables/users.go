package tables

import (
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

const userVersion = 1

// CreateUser implements [imagegen.UserStore]. imagegen.ErrInvalidRequest: the identifier is not valid.
func (t *Tables) CreateUser(ctx context.Context, u imagegen.User) error {
	if err := u.ID.Check(); err != nil {
		return err
	}
	return t.act(ctx, imagegen.ActUserCreate, func(tx kv.Tx) (trail.Change, error) {
		name, id := kv.Key(u.Name), kv.Key(string(u.ID))
		made := trail.Change{Target: string(u.ID), User: u.ID, After: trail.Fields("name", u.Name, "account_type", u.AccountType)}
		owner := tx.Get(userNames, name)
		switch {
		case string(owner) == string(u.ID):
			return trail.Change{}, nil
		case owner != nil || tx.Get(users, id) != nil:
			return made, imagegen.ErrExists
		}
		tx.Put(users, id, encodeUser(u))
		tx.Put(userNames, name, []byte(u.ID))
		return made, nil
	})
}

// User implements [imagegen.UserStore].
func (t *Tables) User(ctx context.Context, id imagegen.UserID) (imagegen.User, error) {
	return t.users.get(id, func() (imagegen.User, error) {
		return view(ctx, t.db, func(tx kv.Tx) (imagegen.User, error) { return loadUser(tx, id) })
	})
}

// UserByName implements [imagegen.UserStore].
func (t *Tables) UserByName(ctx context.Context, name string) (imagegen.User, error) {
	return view(ctx, t.db, func(tx kv.Tx) (imagegen.User, error) {
		return loadUser(tx, imagegen.UserID(tx.Get(userNames, kv.Key(name))))
	})
}

// Users implements [imagegen.UserStore].
func (t *Tables) Users(ctx context.Context) ([]imagegen.User, error) {
	return view(ctx, t.db, func(tx kv.Tx) (us []imagegen.User, err error) {
		tx.Ascend(userNames, nil, func(_, id []byte) bool {
			var u imagegen.User
			u, err = loadUser(tx, imagegen.UserID(id))
			us = append(us, u)
			return err == nil
		})
		return us, err
	})
}

// SetAccountType implements [imagegen.UserStore].
func (t *Tables) SetAccountType(ctx context.Context, id imagegen.UserID, accountType string) error {
	return t.changeUser(ctx, imagegen.ActUserSet, id, func(u *imagegen.User) { u.AccountType = accountType })
}

// DisableUser implements [imagegen.UserStore].
func (t *Tables) DisableUser(ctx context.Context, id imagegen.UserID, at time.Time) error {
	return t.changeUser(ctx, imagegen.ActUserDisable, id, func(u *imagegen.User) {
		if u.DisabledAt.IsZero() {
			u.DisabledAt = at
		}
	})
}

func (t *Tables) changeUser(ctx context.Context, act imagegen.Act, id imagegen.UserID, change func(*imagegen.User)) error {
	return t.act(ctx, act, func(tx kv.Tx) (trail.Change, error) {
		u, err := loadUser(tx, id)
		if err != nil {
			return trail.Change{Target: string(id), User: id}, err
		}
		former := u
		if change(&u); u == former {
			return trail.Change{}, nil
		}
		tx.Put(users, kv.Key(string(id)), encodeUser(u))
		tx.OnCommit(func() { t.users.forget(id) })
		return trail.Change{Target: string(id), User: id, Before: standing(former), After: standing(u)}, nil
	})
}

// standing is what of a user can change.
func standing(u imagegen.User) string {
	return trail.Fields("account_type", u.AccountType, "disabled_at", u.DisabledAt)
}

func encodeUser(u imagegen.User) []byte {
	w := form(userVersion)
	w.String(u.Name)
	w.String(u.AccountType)
	w.Time(u.CreatedAt)
	w.Time(u.DisabledAt)
	return w
}

// loadUser reads a user. imagegen.ErrNotFound.
func loadUser(tx kv.Tx, id imagegen.UserID) (imagegen.User, error) {
	b := tx.Get(users, kv.Key(string(id)))
	if b == nil {
		return imagegen.User{}, imagegen.ErrNotFound
	}
	in := versioned(b, userVersion)
	u := imagegen.User{ID: id, Name: in.String(), AccountType: in.String(), CreatedAt: in.Time(), DisabledAt: in.Time()}
	if err := in.Err(); err != nil {
		return imagegen.User{}, fmt.Errorf("tables: user %s: %w", id, err)
	}
	return u, nil
}
