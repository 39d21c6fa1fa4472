package imagegen

import (
	"log/slog"
	"time"
)

// Key is an API key as it is stored. The raw key is not: it is shown once, when the key is made.
type Key struct {
	ID         KeyID
	User       UserID
	Name       string
	Prefix     string   // the first characters of the raw key, for display
	Hash       [32]byte // SHA-256 of the raw key
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked
	LastUsedAt time.Time // zero: never; may lag behind by a minute
	Limits     KeyLimits // zero: none
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
