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

// The credentials of passkeys are slices, and are copied on their way in and out.

// CreatePasskey implements [account.LoginStore].
func (s *store) CreatePasskey(ctx context.Context, p account.Passkey) error {
	if err := p.User.Check(); err != nil {
		return err
	}
	return s.act(ctx, account.ActPasskeyCreate, func() (trail.Change, error) {
		former, there := s.passkeys[p.ID]
		switch {
		case there && former.User == p.User:
			return trail.Change{}, nil
		case there:
			return trail.PasskeyCreated(p), imagegen.ErrExists
		}
		p.Credential = bytes.Clone(p.Credential)
		s.passkeys[p.ID] = p
		return trail.PasskeyCreated(p), nil
	})
}

// Passkeys implements [account.LoginStore].
func (s *store) Passkeys(ctx context.Context, u imagegen.UserID) ([]account.Passkey, error) {
	return read(ctx, s, func() ([]account.Passkey, error) { return s.passkeysOf(u), nil })
}

// passkeysOf lists a user's passkeys, oldest first, as copies.
func (s *store) passkeysOf(u imagegen.UserID) []account.Passkey {
	all := matching(s.passkeys, func(p account.Passkey) bool { return p.User == u },
		func(a, b account.Passkey) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for i := range all {
		all[i].Credential = bytes.Clone(all[i].Credential)
	}
	return all
}

// UsePasskey implements [account.LoginStore].
func (s *store) UsePasskey(ctx context.Context, id account.PasskeyID, uses uint32, at time.Time) error {
	return s.rows.Update(ctx, func(ledger.Tx) error {
		p, err := found(s.passkeys, id)
		if err != nil {
			return err
		}
		if p, err = p.UsedAgain(uses, at); err != nil {
			return err
		}
		s.passkeys[id] = p
		return nil
	})
}

// RemovePasskeys implements [account.LoginStore].
func (s *store) RemovePasskeys(ctx context.Context, u imagegen.UserID, ids ...account.PasskeyID) (n int, err error) {
	err = s.act(ctx, account.ActPasskeyRemove, func() (trail.Change, error) {
		gone := slices.DeleteFunc(s.passkeysOf(u), func(p account.Passkey) bool {
			return len(ids) > 0 && !slices.Contains(ids, p.ID)
		})
		for _, p := range gone {
			delete(s.passkeys, p.ID)
		}
		n = len(gone)
		return trail.PasskeysRemoved(u, gone), nil
	})
	return n, err
}
