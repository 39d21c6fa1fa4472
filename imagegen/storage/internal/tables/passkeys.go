package tables

import (
	"context"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// A passkey's row is found by the identifier that the authenticator gave it.
var (
	passkeys = table.New("passkeys", func(p *account.Passkey) []byte { return kv.Key(string(p.ID)) }, codePasskey).
			Witnessed()
	userPasskeys = passkeys.Index("users", func(p *account.Passkey) []byte { return kv.Key(string(p.User)) })
)

// CreatePasskey implements [account.LoginStore]. imagegen.ErrExists also if the passkey with this identifier cannot be
// read. imagegen.ErrInvalidRequest: the user's identifier is not valid.
func (t *Tables) CreatePasskey(ctx context.Context, p account.Passkey) error {
	if err := p.User.Check(); err != nil {
		return err
	}
	return t.act(ctx, account.ActPasskeyCreate, func(tx kv.Tx) (trail.Change, error) {
		if passkeys.Has(tx, kv.Key(string(p.ID))) {
			former, err := passkeys.Get(tx, kv.Key(string(p.ID)))
			if err == nil && former.User == p.User {
				return trail.Change{}, nil
			}
			return trail.PasskeyCreated(p), imagegen.ErrExists
		}
		passkeys.Put(tx, nil, &p)
		return trail.PasskeyCreated(p), nil
	})
}

// Passkeys implements [account.LoginStore]. A passkey that cannot be read is an error. If it were left out, a user
// with no other one would not be asked for any.
func (t *Tables) Passkeys(ctx context.Context, u imagegen.UserID) ([]account.Passkey, error) {
	return view(ctx, t.db, func(tx kv.Tx) ([]account.Passkey, error) { return passkeysOf(tx, u) })
}

// passkeysOf lists a user's passkeys, oldest first.
func passkeysOf(tx kv.Tx, u imagegen.UserID) ([]account.Passkey, error) {
	all, err := userPasskeys.Values(tx, userPasskeys.Keys(tx, kv.Key(string(u))))
	slices.SortStableFunc(all, func(a, b account.Passkey) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, err
}

// UsePasskey implements [account.LoginStore]. The counter is compared and written in one transaction, so of two
// concurrent uses with the same counter, if the authenticator counts, one is refused.
func (t *Tables) UsePasskey(ctx context.Context, id account.PasskeyID, uses uint32, at time.Time) error {
	return t.db.Update(ctx, func(tx kv.Tx) error {
		from, err := passkeys.Get(tx, kv.Key(string(id)))
		if err != nil {
			return err
		}
		to, err := from.UsedAgain(uses, at)
		if err != nil {
			return err
		}
		passkeys.Put(tx, &from, &to)
		return nil
	})
}

// RemovePasskeys implements [account.LoginStore]. It removes no passkey of another user, whatever identifiers are
// named, and nothing at all if one of the user's cannot be read.
func (t *Tables) RemovePasskeys(ctx context.Context, u imagegen.UserID, ids ...account.PasskeyID) (n int, err error) {
	err = t.act(ctx, account.ActPasskeyRemove, func(tx kv.Tx) (trail.Change, error) {
		all, err := passkeysOf(tx, u)
		if err != nil {
			return trail.Change{}, err
		}
		gone := slices.DeleteFunc(all, func(p account.Passkey) bool {
			return len(ids) > 0 && !slices.Contains(ids, p.ID)
		})
		for _, p := range gone {
			passkeys.Remove(tx, &p)
		}
		n = len(gone)
		return trail.PasskeysRemoved(u, gone), nil
	})
	return n, err
}
