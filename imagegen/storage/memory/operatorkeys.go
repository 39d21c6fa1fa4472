package memory

import (
	"context"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// operatorKeys implements account.OperatorKeyStore, in the transactions of a store. Keys are found by their hash by
// looking at all: there are few.
type operatorKeys struct {
	*store
	all map[imagegen.OperatorKeyID]account.OperatorKey
}

func newOperatorKeys(s *store) *operatorKeys {
	return &operatorKeys{s, make(map[imagegen.OperatorKeyID]account.OperatorKey)}
}

// CreateOperatorKey implements [account.OperatorKeyStore].
func (o *operatorKeys) CreateOperatorKey(ctx context.Context, k account.OperatorKey) error {
	return o.act(ctx, account.ActOperatorKeyCreate, func() (trail.Change, error) {
		former, there := o.all[k.ID]
		if there && former.Hash == k.Hash {
			return trail.Change{}, nil
		}
		if _, err := o.hashed(k.Hash); there || err == nil {
			return trail.OperatorKeyCreated(k), imagegen.ErrExists
		}
		o.all[k.ID] = k
		return trail.OperatorKeyCreated(k), nil
	})
}

// hashed finds a key by its hash, even if it is revoked or has expired. imagegen.ErrNotFound.
func (o *operatorKeys) hashed(hash [32]byte) (account.OperatorKey, error) {
	for _, k := range o.all {
		if k.Hash == hash {
			return k, nil
		}
	}
	return account.OperatorKey{}, imagegen.ErrNotFound
}

// OperatorKeyByHash implements [account.OperatorKeyStore].
func (o *operatorKeys) OperatorKeyByHash(ctx context.Context, hash [32]byte) (k account.OperatorKey, err error) {
	err = o.view(ctx, func() (err error) { k, err = o.hashed(hash); return err })
	return k, err
}

// OperatorKeys implements [account.OperatorKeyStore].
func (o *operatorKeys) OperatorKeys(ctx context.Context) (all []account.OperatorKey, err error) {
	err = o.view(ctx, func() error {
		all = matching(o.all, func(account.OperatorKey) bool { return true },
			func(a, b account.OperatorKey) int { return strings.Compare(string(a.ID), string(b.ID)) })
		return nil
	})
	return all, err
}

// RevokeOperatorKey implements [account.OperatorKeyStore].
func (o *operatorKeys) RevokeOperatorKey(ctx context.Context, id imagegen.OperatorKeyID,
	at time.Time) (k account.OperatorKey, err error) {
	err = o.act(ctx, account.ActOperatorKeyRevoke, func() (trail.Change, error) {
		if k, err = found(o.all, id); err != nil {
			return trail.Change{Target: string(id)}, err
		}
		if !k.RevokedAt.IsZero() {
			return trail.Change{}, nil
		}
		k.RevokedAt = at
		o.all[id] = k
		return trail.OperatorKeyRevoked(k), nil
	})
	return k, err
}
