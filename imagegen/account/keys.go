package account

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// A raw key is keyLive, 43 base62 characters that carry 256 random bits, and 6 base62 characters of
// the CRC-32 (IEEE) of all before them: a mistyped key is recognized without a look-up, and
// scanners for leaked secrets can match a key.
const (
	keyLive         = "img_live_"
	keySecretLength = 43
	keyCheckLength  = 6
	keyDisplay      = 6 // characters behind the prefix, for display
)

// MintKey makes a key for a user and returns the raw key, which is not stored anywhere. The user
// need not exist in the store. name may be empty; otherwise the rules of CreateUser apply, but
// several keys may have the same name. expires zero means never. ErrInvalidRequest: the user or the
// name is not valid, or the expiry is in the past or after the year 2262.
func (a *Accounts) MintKey(ctx context.Context, u imagegen.UserID, name string,
	expires time.Time) (imagegen.Secret, imagegen.Key, error) {
	return a.MintLimitedKey(ctx, u, name, expires, imagegen.KeyLimits{})
}

// MintMembersKey is MintKey for a key on behalf of people. At most so many become members of the user, each with these
// limits. ErrInvalidRequest: also if members is not from 1 to imagegen.MaxMembers, or the user cannot pay for people:
// it has a sponsor, or is suspended or disabled. ErrNotFound: the user does not exist.
func (a *Accounts) MintMembersKey(ctx context.Context, u imagegen.UserID, name string, expires time.Time, members int,
	each imagegen.KeyLimits) (imagegen.Secret, imagegen.Key, error) {
	if members < 1 || members > imagegen.MaxMembers {
		return "", imagegen.Key{}, imagegen.Invalid("a key on behalf of people is for 1 to %d of them; got %d",
			imagegen.MaxMembers, members)
	}
	owner, err := a.User(ctx, u)
	switch {
	case err != nil:
		return "", imagegen.Key{}, err
	case owner.Sponsor != "":
		err = imagegen.Invalid("user %q has a sponsor and cannot pay for people; make the key for the one who pays for it",
			owner.Name)
	case !owner.DisabledAt.IsZero():
		err = imagegen.Invalid("user %q is disabled and cannot pay for people; make the key for another user", owner.Name)
	case !owner.SuspendedAt.IsZero():
		err = imagegen.Invalid("user %q is suspended and cannot pay for people; resume it, and make the key then", owner.Name)
	}
	if err != nil {
		return "", imagegen.Key{}, err
	}
	return a.mint(ctx, u, name, expires, members, each)
}

// MintLimitedKey is MintKey for a key with limits. ErrInvalidRequest: also if a limit is
// out of range.
func (a *Accounts) MintLimitedKey(ctx context.Context, u imagegen.UserID, name string, expires time.Time,
	l imagegen.KeyLimits) (imagegen.Secret, imagegen.Key, error) {
	return a.mint(ctx, u, name, expires, 0, l)
}

func (a *Accounts) mint(ctx context.Context, u imagegen.UserID, name string, expires time.Time, members int,
	l imagegen.KeyLimits) (imagegen.Secret, imagegen.Key, error) {
	now := a.now()
	if err := checkExpiry(expires, now); err != nil {
		return "", imagegen.Key{}, err
	}
	if name != "" {
		if err := checkName("key", name); err != nil {
			return "", imagegen.Key{}, err
		}
	}
	if err := cmp.Or(u.Check(), l.Check()); err != nil {
		return "", imagegen.Key{}, err
	}
	raw := newRawKey(keyLive)
	k := imagegen.Key{ID: a.ids.Key(now), User: u, Name: name, Prefix: raw[:len(keyLive)+keyDisplay],
		Hash: sha256.Sum256([]byte(raw)), CreatedAt: now, ExpiresAt: expires, Members: members,
		Limits: l}
	if err := a.store.CreateKey(ctx, k); err != nil {
		return "", imagegen.Key{}, imagegen.ToUserError(err)
	}
	return imagegen.Secret(raw), k, nil
}

// latest is the last time that fits into nanoseconds since 1970, which is how stores may keep times.
var latest = time.Unix(0, math.MaxInt64).UTC()

func checkExpiry(expires, now time.Time) error {
	switch {
	case expires.IsZero():
		return nil
	case !expires.After(now):
		return imagegen.Invalid("the key would have expired at %s already", expires.UTC().Format(time.RFC3339))
	case expires.After(latest):
		return imagegen.Invalid("an expiry at %s is too late to be kept; name none, and the key never expires",
			expires.UTC().Format(time.RFC3339))
	}
	return nil
}

// Keys lists a user's keys, oldest first.
func (a *Accounts) Keys(ctx context.Context, u imagegen.UserID) ([]imagegen.Key, error) {
	ks, err := a.store.Keys(ctx, u)
	return ks, imagegen.ToUserError(err)
}

// RevokeKey revokes a key at once and for good. ErrNotFound.
func (a *Accounts) RevokeKey(ctx context.Context, id imagegen.KeyID) (imagegen.Key, error) {
	k, err := a.store.RevokeKey(ctx, id, a.now())
	return k, imagegen.ToUserError(err)
}

// SetKeyLimits replaces the limits of a key; the zero KeyLimits removes them. The new limits take
// effect at once, and what the key has already used counts against them. ErrNotFound.
// ErrInvalidRequest: a limit is out of range.
func (a *Accounts) SetKeyLimits(ctx context.Context, id imagegen.KeyID, l imagegen.KeyLimits) (imagegen.Key, error) {
	k, err := a.store.SetKeyLimits(ctx, id, l)
	return k, imagegen.ToUserError(err)
}

// Authenticate returns the key that belongs to a raw key, and its user. ErrMissingKey: raw is empty.
// ErrInvalidKey: the key is malformed, unknown or revoked, or its user is disabled.
// ErrExpiredKey: it has expired.
func (a *Accounts) Authenticate(ctx context.Context, raw string) (imagegen.Key, imagegen.User, error) {
	if raw == "" {
		return imagegen.Key{}, imagegen.User{}, imagegen.ErrMissingKey
	}
	if !wellFormed(raw, keyLive) {
		return imagegen.Key{}, imagegen.User{}, imagegen.ErrInvalidKey
	}
	k, u, err := a.usable(ctx, sha256.Sum256([]byte(raw)))
	if err == nil {
		now := a.now()
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.used == nil {
			a.used = make(map[imagegen.KeyID]time.Time)
		}
		a.used[k.ID] = now
	}
	return k, u, err
}

// KeyByHash returns the key with that hash if it can be used now. Its errors are those of
// Authenticate. Unlike Authenticate, it does not count as a use of the key.
func (a *Accounts) KeyByHash(ctx context.Context, hash [32]byte) (imagegen.Key, error) {
	k, _, err := a.usable(ctx, hash)
	return k, err
}

// usable is KeyByHash with the user of the key.
func (a *Accounts) usable(ctx context.Context, hash [32]byte) (k imagegen.Key, u imagegen.User, err error) {
	k, err = a.store.KeyByHash(ctx, hash)
	if errors.Is(err, imagegen.ErrNotFound) {
		return imagegen.Key{}, u, imagegen.ErrInvalidKey
	}
	if err != nil {
		return imagegen.Key{}, u, imagegen.ToUserError(err)
	}
	if u, err = a.Account(ctx, k.User); err != nil {
		return imagegen.Key{}, imagegen.User{}, err
	}
	return k, u, k.CheckUsable(u, a.now())
}

func newRawKey(prefix string) string {
	var secret [32]byte
	rand.Read(secret[:]) // never fails
	digits := new(big.Int).SetBytes(secret[:]).Text(62)
	s := prefix + strings.Repeat("0", keySecretLength-len(digits)) + digits
	return s + checksum(s)
}

func wellFormed(raw, prefix string) bool {
	if len(raw) != len(prefix)+keySecretLength+keyCheckLength || !strings.HasPrefix(raw, prefix) {
		return false
	}
	body := raw[:len(raw)-keyCheckLength]
	return checksum(body) == raw[len(body):]
}

// checksum is a CRC-32 in base62. Every request computes it, so it does without big.Int.
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

// TakeUsedKeys returns the keys that were used since the previous call of TakeUsedKeys, and when each was
// last used. The engine calls it, to store those times.
func (a *Accounts) TakeUsedKeys() map[imagegen.KeyID]time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.used
	a.used = nil
	return last
}
