package console

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Passkeys carries out the server's part of WebAuthn: it makes browsers create and use passkeys, and checks their
// answers. Package imagegen/console/passkey is an implementation. It must be safe for concurrent use. It need not keep
// any state: between two steps of a ceremony the console has the browser carry the secret, sealed so that it cannot
// read it.
type Passkeys interface {
	// BeginRegistration returns the options with which a browser creates a passkey for a user, as JSON, and a secret
	// for FinishRegistration. have are the user's existing passkeys: a device that holds one of them must not create
	// another.
	BeginRegistration(u imagegen.User, have []account.Passkey) (options, secret []byte, err error)
	// FinishRegistration checks the browser's answer and returns the new passkey with ID, Credential and Uses set. The
	// console accepts one answer for each secret. ErrInvalidRequest: the answer is not valid for this secret.
	FinishRegistration(u imagegen.User, secret, answer []byte) (account.Passkey, error)
	// BeginAuthentication returns the options with which a browser proves possession of one of a user's passkeys, as
	// JSON, and a secret for FinishAuthentication. If verify is set, the authenticator must verify its user, for
	// example by a PIN or a fingerprint.
	BeginAuthentication(u imagegen.User, have []account.Passkey, verify bool) (options, secret []byte, err error)
	// FinishAuthentication checks the browser's answer. It returns the passkey that was used, its counter of uses, and
	// whether the authenticator has verified its user. The console accepts one answer for each secret.
	// ErrInvalidRequest: the answer is not valid for this secret.
	FinishAuthentication(u imagegen.User, have []account.Passkey, secret, answer []byte) (
		id account.PasskeyID, uses uint32, verified bool, err error)
}
