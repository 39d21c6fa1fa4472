package account

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// PasskeyID is the identifier that a passkey's maker gave it, in base64url without padding.
type PasskeyID string

// Passkey is a key by which a user proves in the console who they are, beside the password.
type Passkey struct {
	ID         PasskeyID
	User       imagegen.UserID
	Name       string
	Credential []byte // the public key and what else checks need; opaque to stores
	Uses       uint32 // how often its maker says that it was used; 0: the maker does not count
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never
}

// PasskeyStore keeps passkeys for the console. It is optional. The contract of [imagegen.Store] on concurrency,
// durability and contexts holds here too.
type PasskeyStore interface {
	// CreatePasskey adds a passkey. A repetition is success. ErrExists: there is another with its identifier,
	// be it another user's.
	CreatePasskey(ctx context.Context, p Passkey) error
	// Passkeys lists the user's passkeys, oldest first.
	Passkeys(ctx context.Context, u imagegen.UserID) ([]Passkey, error)
	// UsePasskey records that a passkey was used, and how often its maker says it was. ErrNotFound.
	// ErrInvalidRequest: it was that often before, so that somebody has a copy; nothing is recorded. A maker that
	// does not count says 0 each time.
	UsePasskey(ctx context.Context, id PasskeyID, uses uint32, at time.Time) error
	// RemovePasskeys removes those of the user's passkeys that are named; all, if none is. It returns how many there were.
	RemovePasskeys(ctx context.Context, u imagegen.UserID, ids ...PasskeyID) (int, error)
}

// UsedAgain returns the passkey after one more use, or ErrInvalidRequest: see [PasskeyStore]. Every store applies it.
func (p Passkey) UsedAgain(uses uint32, at time.Time) (Passkey, error) {
	if uses <= p.Uses && (uses != 0 || p.Uses != 0) {
		return p, imagegen.Invalid("this passkey was used elsewhere since; somebody has a copy of it")
	}
	p.Uses = uses
	if at.After(p.LastUsedAt) {
		p.LastUsedAt = at
	}
	return p, nil
}
