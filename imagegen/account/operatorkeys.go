package account

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// keyOps begins every operator key, so that it is not taken for an API key, nor the other way round.
const keyOps = "img_ops_"

// OperatorKeys manages the keys with which programs act as operators. It is safe for
// concurrent use. As for an [imagegen.Service], every error is an *imagegen.Error or that of a
// context.
type OperatorKeys struct {
	store OperatorKeyStore
	ids   *imagegen.IDs
	now   func() time.Time
}

// NewOperatorKeys returns the operator keys of a store. ids makes the identifiers of new keys; now
// returns the current time.
func NewOperatorKeys(store OperatorKeyStore, ids *imagegen.IDs, now func() time.Time) *OperatorKeys {
	return &OperatorKeys{store, ids, now}
}

// Mint makes a key and returns the raw key, which is not stored anywhere. name says what the key is
// for: 1 to 255 bytes of printable text without space around it. scopes are values of [Scope], at
// least one. expires zero means never. ErrInvalidRequest: the name or a scope is not valid, or the
// expiry is in the past or after the year 2262.
func (o *OperatorKeys) Mint(ctx context.Context, name string, scopes []string,
	expires time.Time) (imagegen.Secret, OperatorKey, error) {
	now := o.now()
	may, err := parseScopes(scopes)
	if err := errors.Join(checkName("key", name), err, checkExpiry(expires, now)); err != nil {
		return "", OperatorKey{}, err
	}
	raw := newRawKey(keyOps)
	k := OperatorKey{ID: o.ids.OperatorKey(now), Name: name, Prefix: raw[:len(keyOps)+keyDisplay],
		Hash: sha256.Sum256([]byte(raw)), Scopes: may, CreatedAt: now, ExpiresAt: expires}
	if err := o.store.CreateOperatorKey(ctx, k); err != nil {
		return "", OperatorKey{}, imagegen.ToUserError(err)
	}
	return imagegen.Secret(raw), k, nil
}

// List lists all keys, oldest first.
func (o *OperatorKeys) List(ctx context.Context) ([]OperatorKey, error) {
	all, err := o.store.OperatorKeys(ctx)
	return all, imagegen.ToUserError(err)
}

// Revoke revokes a key at once and for good. ErrNotFound.
func (o *OperatorKeys) Revoke(ctx context.Context, id imagegen.OperatorKeyID) (OperatorKey, error) {
	k, err := o.store.RevokeOperatorKey(ctx, id, o.now())
	return k, imagegen.ToUserError(err)
}

// Verify returns the key that belongs to a raw key. ErrInvalidKey: there is no such key,
// or it is revoked. ErrExpiredKey: it has expired.
func (o *OperatorKeys) Verify(ctx context.Context, raw string) (OperatorKey, error) {
	if !wellFormed(raw, keyOps) {
		return OperatorKey{}, imagegen.ErrInvalidKey
	}
	k, err := o.store.OperatorKeyByHash(ctx, sha256.Sum256([]byte(raw)))
	switch {
	case errors.Is(err, imagegen.ErrNotFound):
		return OperatorKey{}, imagegen.ErrInvalidKey
	case err != nil:
		return OperatorKey{}, imagegen.ToUserError(err)
	}
	return k, imagegen.Key{RevokedAt: k.RevokedAt, ExpiresAt: k.ExpiresAt}.CheckUsable(imagegen.User{}, o.now())
}
