package tables

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// A key lies under its hash, because that is how every request looks for it.
var (
	keys     = table.New("keys", func(k *imagegen.Key) []byte { return k.Hash[:] }, codeKey).Witnessed()
	keyByID  = keys.Index("ids", func(k *imagegen.Key) []byte { return kv.Key(string(k.ID)) })
	userKeys = keys.Index("users", func(k *imagegen.Key) []byte { return kv.Key(string(k.User), string(k.ID)) })
)

// CreateKey implements [imagegen.AccountStore]. imagegen.ErrExists: the identifier or the hash is
// another key's. imagegen.ErrInvalidRequest: the user's identifier is not valid.
func (t *Tables) CreateKey(ctx context.Context, k imagegen.Key) error {
	if err := cmp.Or(k.User.Check(), k.Limits.Check()); err != nil {
		return err
	}
	return t.act(ctx, account.ActKeyCreate, func(tx kv.Tx) (trail.Change, error) {
		former := keyByID.First(tx, kv.Key(string(k.ID)))
		switch {
		case bytes.Equal(former, k.Hash[:]):
			return trail.Change{}, nil
		case former != nil || keys.Has(tx, k.Hash[:]):
			return trail.KeyCreated(k), imagegen.ErrExists
		}
		keys.Put(tx, nil, &k)
		return trail.KeyCreated(k), nil
	})
}

// KeyByHash implements [imagegen.AccountStore].
func (t *Tables) KeyByHash(ctx context.Context, hash [32]byte) (imagegen.Key, error) {
	return t.keys.get(hash, func() (imagegen.Key, error) {
		return view(ctx, t.db, func(tx kv.Tx) (imagegen.Key, error) { return keys.Get(tx, hash[:]) })
	})
}

// Keys implements [imagegen.AccountStore]. Identifiers rise with time.
func (t *Tables) Keys(ctx context.Context, u imagegen.UserID) ([]imagegen.Key, error) {
	return view(ctx, t.db, func(tx kv.Tx) ([]imagegen.Key, error) {
		return userKeys.Values(tx, userKeys.Keys(tx, kv.Key(string(u))))
	})
}

// RevokeKey implements [imagegen.AccountStore].
func (t *Tables) RevokeKey(ctx context.Context, id imagegen.KeyID, at time.Time) (k imagegen.Key, err error) {
	err = t.act(ctx, account.ActKeyRevoke, func(tx kv.Tx) (c trail.Change, err error) {
		from, err := keyByID.Find(tx, kv.Key(string(id)))
		if k = from; err != nil {
			return trail.Change{Target: string(id)}, err
		}
		if !from.RevokedAt.IsZero() {
			return c, nil
		}
		k.RevokedAt = at
		keys.Put(tx, &from, &k)
		tx.OnCommit(func() { t.keys.forget(from.Hash) })
		return trail.KeyRevoked(k), nil
	})
	return k, err
}

// SetKeyLimits implements [imagegen.AccountStore]. imagegen.ErrInvalidRequest: they cannot be kept.
func (t *Tables) SetKeyLimits(ctx context.Context, id imagegen.KeyID, l imagegen.KeyLimits) (k imagegen.Key, err error) {
	if err := l.Check(); err != nil {
		return k, err
	}
	err = t.act(ctx, account.ActKeyLimit, func(tx kv.Tx) (c trail.Change, err error) {
		from, err := keyByID.Find(tx, kv.Key(string(id)))
		if k = from; err != nil {
			return trail.Change{Target: string(id)}, err
		}
		if from.Limits == l {
			return c, nil
		}
		k.Limits = l
		keys.Put(tx, &from, &k)
		tx.OnCommit(func() { t.keys.forget(from.Hash) })
		return trail.KeyLimited(from, k), nil
	})
	return k, err
}

// TouchKeys implements [imagegen.AccountStore]. A key that is not there, or cannot be read, is passed over.
func (t *Tables) TouchKeys(ctx context.Context, used map[imagegen.KeyID]time.Time) error {
	return t.db.Update(ctx, func(tx kv.Tx) error {
		for id, at := range used {
			from, err := keyByID.Find(tx, kv.Key(string(id)))
			if err != nil {
				continue
			}
			to := from
			to.LastUsedAt = at
			keys.Put(tx, &from, &to)
			tx.OnCommit(func() { t.keys.forget(to.Hash) })
		}
		return nil
	})
}
