package memory

import (
	"cmp"
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// CreateOperatorKey implements [account.OperatorKeyStore].
func (s *store) CreateOperatorKey(ctx context.Context, k account.OperatorKey) error {
	return s.act(ctx, account.ActOperatorKeyCreate, func() (trail.Change, error) {
		former, there := s.operatorKeys[k.ID]
		if there && former.Hash == k.Hash {
			return trail.Change{}, nil
		}
		if _, err := s.hashedOperatorKey(k.Hash); there || err == nil {
			return trail.OperatorKeyCreated(k), imagegen.ErrExists
		}
		s.operatorKeys[k.ID] = k
		return trail.OperatorKeyCreated(k), nil
	})
}

// hashedOperatorKey finds a key by its hash, even if it is revoked or has expired. It looks at all: there are few.
// imagegen.ErrNotFound.
func (s *store) hashedOperatorKey(hash [32]byte) (account.OperatorKey, error) {
	for _, k := range s.operatorKeys {
		if k.Hash == hash {
			return k, nil
		}
	}
	return account.OperatorKey{}, imagegen.ErrNotFound
}

// OperatorKeyByHash implements [account.OperatorKeyStore].
func (s *store) OperatorKeyByHash(ctx context.Context, hash [32]byte) (account.OperatorKey, error) {
	return read(ctx, s, func() (account.OperatorKey, error) { return s.hashedOperatorKey(hash) })
}

// OperatorKeys implements [account.OperatorKeyStore].
func (s *store) OperatorKeys(ctx context.Context) ([]account.OperatorKey, error) {
	return read(ctx, s, func() ([]account.OperatorKey, error) {
		return matching(s.operatorKeys, func(account.OperatorKey) bool { return true },
			func(a, b account.OperatorKey) int { return cmp.Compare(a.ID, b.ID) }), nil
	})
}

// RevokeOperatorKey implements [account.OperatorKeyStore].
func (s *store) RevokeOperatorKey(ctx context.Context, id imagegen.OperatorKeyID,
	at time.Time) (k account.OperatorKey, err error) {
	err = s.act(ctx, account.ActOperatorKeyRevoke, func() (trail.Change, error) {
		if k, err = found(s.operatorKeys, id); err != nil {
			return trail.Change{Target: string(id)}, err
		}
		if !k.RevokedAt.IsZero() {
			return trail.Change{}, nil
		}
		k.RevokedAt = at
		s.operatorKeys[id] = k
		return trail.OperatorKeyRevoked(k), nil
	})
	return k, err
}
