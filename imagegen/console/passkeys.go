package console

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Passkeys carries out the server's part of WebAuthn: it makes browsers create and use passkeys, and checks their
// answers. Package imagegen/console/passkey is an implementation. It must be safe for concurrent use. It need not keep
// any state: between two steps of a ceremony the console keeps the secret, which never reaches the browser.
type Passkeys interface {
	// Create returns the options with which a browser creates a passkey for a user, as JSON, and a secret for Created.
	// have are the user's existing passkeys: a device that holds one of them must not create another.
	Create(u imagegen.User, have []account.Passkey) (options, secret []byte, err error)
	// Created checks the browser's answer and returns the new passkey with ID, Credential and Uses set. The console
	// calls it at most once for each secret. ErrInvalidRequest: the answer is not valid for this secret.
	Created(u imagegen.User, secret, answer []byte) (account.Passkey, error)
	// Ask returns the options with which a browser proves possession of one of a user's passkeys, as JSON, and a secret
	// for Answered. If verify is set, the authenticator must verify its user, for example by a PIN or a fingerprint.
	Ask(u imagegen.User, have []account.Passkey, verify bool) (options, secret []byte, err error)
	// Answered checks the browser's answer. It returns the passkey that was used, and its counter of uses. The console
	// calls it at most once for each secret. ErrInvalidRequest: the answer is not valid for this secret.
	Answered(u imagegen.User, have []account.Passkey, secret, answer []byte) (id account.PasskeyID, uses uint32, err error)
}

// maxPasskeys is how many passkeys a user can have.
const maxPasskeys = 20

// The fields of a form that carries a passkey's answer; passkey.js fills in the second.
const (
	ceremonyField = "passkey_ceremony" // the token of the ceremony
	answerField   = "passkey_answer"   // what the browser answers, as JSON
)

// ceremony is what the server keeps while a browser creates a passkey or uses one. It waits in memory, for waitTime
// and for one answer. Its purpose is checked when it is taken: an answer given to sign in does not confirm, for
// instance.
type ceremony struct {
	purpose purpose
	user    imagegen.UserID
	secret  []byte        // for Passkeys.Created or Passkeys.Answered
	signIn  [32]byte      // toMakePasskey, toConfirm: the sign-in that asked, which must also be the one that answers
	name    string        // toMakePasskey: of the new passkey
	pending pendingSignIn // toSignIn: what to complete
}

// prompt is what a page needs whose script uses a passkey.
type prompt struct {
	Ceremony string // the token
	Options  string // as JSON
}

// askForPasskey begins a ceremony in which the user has to use one of their passkeys; k holds the rest of it.
// ErrInvalidRequest: the service is not set up for passkeys. Then the user cannot sign in, rather than without the
// passkey.
func (p *page) askForPasskey(u imagegen.User, have []account.Passkey, k ceremony, verify bool) (prompt, error) {
	if p.c.cfg.Passkeys == nil {
		return prompt{}, imagegen.Invalid("you have a passkey, and this service is not set up to ask for it; tell the operator")
	}
	options, secret, err := p.c.cfg.Passkeys.Ask(u, have, verify)
	if err != nil {
		return prompt{}, err
	}
	k.user, k.secret = u.ID, secret
	return prompt{p.c.ceremonies.put(k, p.now), string(options)}, nil
}

// usedPasskey ends such a ceremony: it checks the answer in the form, and records the use. ErrInvalidRequest: the
// answer is not valid, or the passkey's counter has not risen, so that it may be a copy. ErrNotFound: the passkey was
// removed meanwhile. A refusal counts as a failed sign-in in the audit trail.
func (p *page) usedPasskey(f *form, k ceremony) error {
	if p.c.cfg.Passkeys == nil {
		return imagegen.Invalid("this service is not set up to ask for passkeys")
	}
	u, err := p.c.cfg.Engine.Accounts().User(p.context(), k.user)
	if err != nil {
		return err
	}
	// The passkeys are read again: one that was removed since the question must not answer it.
	have, err := p.c.cfg.Logins.Passkeys(p.context(), u.ID)
	if err != nil {
		return err
	}
	id, uses, err := p.c.cfg.Passkeys.Answered(u, have, k.secret, []byte(f.secret(answerField)))
	// The store compares the counter in one transaction, so of two answers with the same count one is refused.
	if err == nil {
		err = p.c.cfg.Logins.UsePasskey(p.context(), id, uses, p.now)
	}
	if err != nil {
		p.signInFailed(u.Name)
		p.c.cfg.Log.WarnContext(p.context(), "a passkey was refused", "user", u.ID, "error", err)
	}
	return err
}
