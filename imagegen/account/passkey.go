package account

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// PasskeyID is the identifier that the authenticator gave the passkey, in base64url
// without padding.
type PasskeyID string

// Passkey is a WebAuthn key with which a user proves their identity to the console, in addition to
// the password.
type Passkey struct {
	ID         PasskeyID
	User       imagegen.UserID
	Name       string
	Credential []byte // the public key and other data for verification; opaque to stores
	Uses       uint32 // the authenticator's counter of uses; always 0 if it does not count
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never
}

// UsedAgain returns the passkey after one more use; uses is the authenticator's counter.
// ErrInvalidRequest: the counter has not risen. Every implementation of LoginStore.UsePasskey
// calls it.
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
