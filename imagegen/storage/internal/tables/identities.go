package tables

import (
	"context"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// An identity is found by what the issuer calls the user, or by the user and the issuer.
var (
	identities = table.New("identities", func(i *account.Identity) []byte { return kv.Key(i.Issuer, i.Subject) },
		codeIdentity).Witnessed()
	userIdentities = identities.Index("users", func(i *account.Identity) []byte {
		return kv.Key(string(i.User), i.Issuer)
	})
)

// CreateIdentity implements [account.LoginStore]. imagegen.ErrInvalidRequest: the user's identifier is not valid.
func (t *Tables) CreateIdentity(ctx context.Context, i account.Identity) error {
	if err := i.User.Check(); err != nil {
		return err
	}
	return t.act(ctx, account.ActIdentityCreate, func(tx kv.Tx) (trail.Change, error) {
		former, err := identities.Get(tx, kv.Key(i.Issuer, i.Subject))
		switch {
		case err == nil && former.User == i.User:
			return trail.Change{}, nil
		case err == nil || userIdentities.First(tx, kv.Key(string(i.User), i.Issuer)) != nil:
			return trail.IdentityCreated(i), imagegen.ErrExists
		case !errors.Is(err, imagegen.ErrNotFound):
			return trail.Change{}, err
		}
		identities.Put(tx, nil, &i)
		return trail.IdentityCreated(i), nil
	})
}

// Identity implements [account.LoginStore].
func (t *Tables) Identity(ctx context.Context, issuer, subject string) (account.Identity, error) {
	return view(ctx, t.db, func(tx kv.Tx) (account.Identity, error) {
		return identities.Get(tx, kv.Key(issuer, subject))
	})
}

// UserIdentity implements [account.LoginStore]. CreateIdentity sees to it that there is one at most.
func (t *Tables) UserIdentity(ctx context.Context, u imagegen.UserID, issuer string) (account.Identity, error) {
	return view(ctx, t.db, func(tx kv.Tx) (account.Identity, error) {
		return userIdentities.Find(tx, kv.Key(string(u), issuer))
	})
}

// RemoveIdentity implements [account.LoginStore].
func (t *Tables) RemoveIdentity(ctx context.Context, u imagegen.UserID, issuer string) error {
	return t.act(ctx, account.ActIdentityRemove, func(tx kv.Tx) (trail.Change, error) {
		former, err := userIdentities.Find(tx, kv.Key(string(u), issuer))
		if errors.Is(err, imagegen.ErrNotFound) {
			return trail.Change{}, nil
		}
		if err != nil {
			return trail.Change{}, err
		}
		identities.Remove(tx, &former)
		return trail.IdentityRemoved(former), nil
	})
}
