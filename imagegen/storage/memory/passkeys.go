package memory

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// passkeys implements the part of account.LoginStore about passkeys, in the transactions of a store. It copies
// credentials, which are slices, on their way in and out.
type passkeys struct {
	*store
	passkeys map[account.PasskeyID]account.Passkey
}

func newPasskeys(s *store) *passkeys {
	return &passkeys{s, make(map[account.PasskeyID]account.Passkey)}
}

// CreatePasskey implements [account.LoginStore].
func (k *passkeys) CreatePasskey(ctx context.Context, p account.Passkey) error {
	if err := p.User.Check(); err != nil {
		return err
	}
	return k.act(ctx, account.ActPasskeyCreate, func() (trail.Change, error) {
		former, there := k.passkeys[p.ID]
		switch {
		case there && former.User == p.User:
			return trail.Change{}, nil
		case there:
			return trail.PasskeyCreated(p), imagegen.ErrExists
		}
		p.Credential = bytes.Clone(p.Credential)
		k.passkeys[p.ID] = p
		return trail.PasskeyCreated(p), nil
	})
}

// Passkeys implements [account.LoginStore].
func (k *passkeys) Passkeys(ctx context.Context, u imagegen.UserID) (all []account.Passkey, err error) {
	err = k.view(ctx, func() error { all = k.ownedBy(u); return nil })
	return all, err
}

// ownedBy lists a user's passkeys, oldest first, as copies.
func (k *passkeys) ownedBy(u imagegen.UserID) []account.Passkey {
	all := matching(k.passkeys, func(p account.Passkey) bool { return p.User == u },
		func(a, b account.Passkey) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for i := range all {
		all[i].Credential = bytes.Clone(all[i].Credential)
	}
	return all
}

// UsePasskey implements [account.LoginStore].
func (k *passkeys) UsePasskey(ctx context.Context, id account.PasskeyID, uses uint32, at time.Time) error {
	return k.rows.Update(ctx, func(ledger.Tx) error {
		p, err := found(k.passkeys, id)
		if err != nil {
			return err
		}
		if p, err = p.UsedAgain(uses, at); err != nil {
			return err
		}
		k.passkeys[id] = p
		return nil
	})
}

// RemovePasskeys implements [account.LoginStore].
func (k *passkeys) RemovePasskeys(ctx context.Context, u imagegen.UserID, ids ...account.PasskeyID) (n int, err error) {
	err = k.act(ctx, account.ActPasskeyRemove, func() (trail.Change, error) {
		gone := slices.DeleteFunc(k.ownedBy(u), func(p account.Passkey) bool {
			return len(ids) > 0 && !slices.Contains(ids, p.ID)
		})
		for _, p := range gone {
			delete(k.passkeys, p.ID)
		}
		n = len(gone)
		return trail.PasskeysRemoved(u, gone), nil
	})
	return n, err
}
