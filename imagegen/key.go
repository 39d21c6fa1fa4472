package imagegen

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"log/slog"
	"math"
	"math/big"
	"strings"
	"sync"
	"time"
)

// A raw key is keyLive, 43 base62 characters that carry 256 random bits, and 6 base62 characters of
// the CRC-32 (IEEE) of all before them: a mistyped key is told apart without a look-up, and
// scanners for leaked secrets can match it.
const (
	keyLive          = "img_live_"
	keySecretLength  = 43
	keyCheckLength   = 6
	keyLength        = len(keyLive) + keySecretLength + keyCheckLength
	keyDisplayLength = len(keyLive) + 6
)

// Secret is a string that does not show when it is printed, logged or encoded.
type Secret string

const redacted = "[redacted]"

// Reveal returns the secret.
func (s Secret) Reveal() string { return string(s) }

// String hides the secret.
func (Secret) String() string { return redacted }

// GoString hides the secret.
func (Secret) GoString() string { return redacted }

// LogValue hides the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the secret.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MintKey makes a key for a user and returns the raw key, which is stored nowhere. expires zero
// means never. ErrInvalidRequest if the expiry is past, or beyond the year 2262, or the name unfit.
func (a *Accounts) MintKey(ctx context.Context, u UserID, name string, expires time.Time) (Secret, Key, error) {
	now := a.now()
	if err := checkExpiry("key", expires, now); err != nil {
		return "", Key{}, err
	}
	if name != "" {
		if err := checkName("key", name); err != nil {
			return "", Key{}, err
		}
	}
	if err := u.Check(); err != nil {
		return "", Key{}, err
	}
	raw := newRawKey()
	k := Key{ID: KeyID(a.ids.next(keyPrefix, now)), User: u, Name: name, Prefix: raw[:keyDisplayLength],
		Hash: sha256.Sum256([]byte(raw)), CreatedAt: now, ExpiresAt: expires}
	if err := a.store.CreateKey(ctx, k); err != nil {
		return "", Key{}, public(err)
	}
	return Secret(raw), k, nil
}

// latest is the last time that fits into nanoseconds since 1970, which is how stores may keep times.
var latest = time.Unix(0, math.MaxInt64).UTC()

func checkExpiry(what string, expires, now time.Time) error {
	switch {
	case expires.IsZero():
		return nil
	case !expires.After(now):
		return invalid("the %s would have expired at %s already", what, expires.UTC().Format(time.RFC3339))
	case expires.After(latest):
		return invalid("an expiry at %s is too late to be kept; name none, and the %s never expires", expires.UTC().Format(time.RFC3339), what)
	}
	return nil
}

// Keys lists a user's keys, oldest first.
func (a *Accounts) Keys(ctx context.Context, u UserID) ([]Key, error) {
	ks, err := a.store.Keys(ctx, u)
	return ks, public(err)
}

// RevokeKey revokes a key at once and for good. ErrNotFound.
func (a *Accounts) RevokeKey(ctx context.Context, id KeyID) (Key, error) {
	k, err := a.store.RevokeKey(ctx, id, a.now())
	return k, public(err)
}

// Refuses returns why the key of a user cannot be used at that time: ErrInvalidKey if it is revoked or the
// user disabled, which wins over ErrExpiredKey; nil if it can.
func (k Key) Refuses(u User, at time.Time) error {
	switch {
	case !k.RevokedAt.IsZero(), !u.DisabledAt.IsZero():
		return ErrInvalidKey
	case !k.ExpiresAt.IsZero() && !at.Before(k.ExpiresAt):
		return ErrExpiredKey
	}
	return nil
}

// authenticate finds the key that a raw one is.
func (a *Accounts) authenticate(ctx context.Context, raw string) (Key, error) {
	if raw == "" {
		return Key{}, ErrMissingKey
	}
	if !wellFormed(raw) {
		return Key{}, ErrInvalidKey
	}
	k, err := a.usable(ctx, sha256.Sum256([]byte(raw)))
	if err == nil {
		a.used.touch(k.ID, a.now())
	}
	return k, err
}

// usable finds the key of a hash, if it can be used now.
func (a *Accounts) usable(ctx context.Context, hash [32]byte) (Key, error) {
	k, err := a.store.KeyByHash(ctx, hash)
	if errors.Is(err, ErrNotFound) {
		return Key{}, ErrInvalidKey
	}
	if err != nil {
		return Key{}, public(err)
	}
	u, err := a.store.User(ctx, k.User)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Key{}, public(err)
	}
	return k, k.Refuses(u, a.now())
}

func newRawKey() string {
	var secret [32]byte
	rand.Read(secret[:]) // never fails
	s := keyLive + inBase62(new(big.Int).SetBytes(secret[:]), keySecretLength)
	return s + checksum(s)
}

func wellFormed(raw string) bool {
	if len(raw) != keyLength || !strings.HasPrefix(raw, keyLive) {
		return false
	}
	body := raw[:keyLength-keyCheckLength]
	return checksum(body) == raw[len(body):]
}

// checksum is a CRC-32 in base62; every request computes it.
func checksum(s string) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" // as those of big.Int
	sum := crc32.ChecksumIEEE([]byte(s))
	var b [keyCheckLength]byte
	for i := range b {
		b[len(b)-1-i] = digits[sum%uint32(len(digits))]
		sum /= uint32(len(digits))
	}
	return string(b[:])
}

func inBase62(n *big.Int, length int) string {
	digits := n.Text(62)
	return strings.Repeat("0", length-len(digits)) + digits
}

// keyUse collects when keys were last used, so that no request pays for writing it.
type keyUse struct {
	mu   sync.Mutex
	last map[KeyID]time.Time
}

func (u *keyUse) touch(id KeyID, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = make(map[KeyID]time.Time)
	}
	u.last[id] = now
}

func (u *keyUse) take() map[KeyID]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	last := u.last
	u.last = nil
	return last
}
