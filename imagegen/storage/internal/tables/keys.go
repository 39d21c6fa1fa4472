package tables

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// A key lies under its hash, because that is how every request looks for it. When it was last used
// is kept apart, so that noting it rewrites no key.

const keyVersion = 1

// CreateKey implements [imagegen.KeyStore]. imagegen.ErrExists: the identifier or the hash is
// another key's. imagegen.ErrInvalidRequest: the user's identifier is not valid.
func (t *Tables) CreateKey(ctx context.Context, k imagegen.Key) error {
	if err := k.User.Check(); err != nil {
		return err
	}
	return t.act(ctx, imagegen.ActKeyCreate, func(tx kv.Tx) (trail.Change, error) {
		id, hash := kv.Key(string(k.ID)), k.Hash[:]
		made := trail.Change{Target: string(k.ID), User: k.User, After: trail.Fields("name", k.Name, "prefix", k.Prefix, "expires_at", k.ExpiresAt)}
		former := tx.Get(keyIDs, id)
		switch {
		case bytes.Equal(former, hash):
			return trail.Change{}, nil
		case former != nil || tx.Get(keys, hash) != nil:
			return made, imagegen.ErrExists
		}
		tx.Put(keys, hash, encodeKey(k))
		tx.Put(keyIDs, id, hash)
		tx.Put(userKeys, kv.Key(string(k.User), string(k.ID)), hash)
		return made, nil
	})
}

// KeyByHash implements [imagegen.KeyStore].
func (t *Tables) KeyByHash(ctx context.Context, hash [32]byte) (imagegen.Key, error) {
	return t.keys.get(hash, func() (imagegen.Key, error) {
		return view(ctx, t.db, func(tx kv.Tx) (imagegen.Key, error) { return loadKey(tx, hash[:]) })
	})
}

// Keys implements [imagegen.KeyStore]. Identifiers rise with time.
func (t *Tables) Keys(ctx context.Context, u imagegen.UserID) ([]imagegen.Key, error) {
	return view(ctx, t.db, func(tx kv.Tx) (ks []imagegen.Key, err error) {
		first := kv.Key(string(u))
		tx.Ascend(userKeys, first, func(key, hash []byte) bool {
			if !bytes.HasPrefix(key, first) {
				return false
			}
			var k imagegen.Key
			k, err = loadKey(tx, hash)
			ks = append(ks, k)
			return err == nil
		})
		return ks, err
	})
}

// RevokeKey implements [imagegen.KeyStore].
func (t *Tables) RevokeKey(ctx context.Context, id imagegen.KeyID, at time.Time) (k imagegen.Key, err error) {
	err = t.act(ctx, imagegen.ActKeyRevoke, func(tx kv.Tx) (c trail.Change, err error) {
		k, err = loadKey(tx, tx.Get(keyIDs, kv.Key(string(id))))
		if err != nil {
			return trail.Change{Target: string(id)}, err
		}
		if !k.RevokedAt.IsZero() {
			return c, nil
		}
		k.RevokedAt = at
		tx.Put(keys, k.Hash[:], encodeKey(k))
		tx.OnCommit(func() { t.keys.forget(k.Hash) })
		return trail.Change{Target: string(id), User: k.User, After: trail.Fields("name", k.Name, "prefix", k.Prefix, "revoked_at", at)}, nil
	})
	return k, err
}

// TouchKeys implements [imagegen.KeyStore]. A key that is not there is passed over.
func (t *Tables) TouchKeys(ctx context.Context, used map[imagegen.KeyID]time.Time) error {
	return t.db.Update(ctx, func(tx kv.Tx) error {
		for id, at := range used {
			k := kv.Key(string(id))
			hash := tx.Get(keyIDs, k)
			if hash == nil {
				continue
			}
			var w kv.Writer
			w.Time(at)
			tx.Put(keyUse, k, w)
			touched := [32]byte(hash)
			tx.OnCommit(func() { t.keys.forget(touched) })
		}
		return nil
	})
}

func lastUse(tx kv.Tx, id []byte) time.Time { return kv.NewReader(tx.Get(keyUse, id)).Time() }

func encodeKey(k imagegen.Key) []byte {
	w := form(keyVersion)
	w.String(string(k.ID))
	w.String(string(k.User))
	w.String(k.Name)
	w.String(k.Prefix)
	w.Time(k.CreatedAt)
	w.Time(k.ExpiresAt)
	w.Time(k.RevokedAt)
	return w
}

// loadKey reads a key. imagegen.ErrNotFound.
func loadKey(tx kv.Tx, hash []byte) (imagegen.Key, error) {
	b := tx.Get(keys, hash)
	if b == nil {
		return imagegen.Key{}, imagegen.ErrNotFound
	}
	in := versioned(b, keyVersion)
	k := imagegen.Key{ID: imagegen.KeyID(in.String()), User: imagegen.UserID(in.String()), Name: in.String(), Prefix: in.String(),
		CreatedAt: in.Time(), ExpiresAt: in.Time(), RevokedAt: in.Time()}
	if err := in.Err(); err != nil {
		return imagegen.Key{}, fmt.Errorf("tables: key with hash %x: %w", hash, err)
	}
	copy(k.Hash[:], hash)
	k.LastUsedAt = lastUse(tx, kv.Key(string(k.ID)))
	return k, nil
}
