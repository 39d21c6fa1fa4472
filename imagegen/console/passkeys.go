package console

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Passkeys has browsers make passkeys, and checks what they prove with them. Package imagegen/console/passkey does.
// It is safe for concurrent use.
type Passkeys interface {
	// Create returns what a browser is told to make a passkey for a user, who has others already, and a secret
	// that Created needs.
	Create(u imagegen.User, have []account.Passkey) (options, secret []byte, err error)
	// Created returns the passkey that a browser made: its ID, Credential and Uses. The console calls it once for each
	// secret. ErrInvalidRequest: it is none, or was not made for this.
	Created(u imagegen.User, secret, answer []byte) (account.Passkey, error)
	// Ask returns what a browser is told to prove that it has one of a user's passkeys, and a secret that Answered
	// needs. With verify the passkey has to find out who uses it, by a PIN or a finger, say.
	Ask(u imagegen.User, have []account.Passkey, verify bool) (options, secret []byte, err error)
	// Answered returns the passkey that was used, and how often it says that it was. The console calls it once for
	// each secret. ErrInvalidRequest: nothing is proved.
	Answered(u imagegen.User, have []account.Passkey, secret, answer []byte) (id account.PasskeyID, uses uint32, err error)
}

// maxPasskeys is how many passkeys a user can have.
const maxPasskeys = 20

// The fields of a form by which a browser proves that it has a passkey.
const (
	ceremonyField = "passkey_ceremony" // the token of what is kept meanwhile
	answerField   = "passkey_answer"
)

// ceremony is what is kept while a browser makes a passkey or uses one.
type ceremony struct {
	purpose purpose
	user    imagegen.UserID
	secret  []byte
	signIn  [32]byte      // of who makes one or confirms
	name    string        // of a new passkey
	pending pendingSignIn // of who signs in
}

// prompt is what a page is given whose script uses a passkey.
type prompt struct {
	Ceremony string // its token
	Options  string
}

// askForPasskey begins a ceremony in which one of the user's passkeys is used.
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

// usedPasskey ends such a ceremony: a form is proved by a passkey of the user. ErrInvalidRequest if it is not.
func (p *page) usedPasskey(f *form, k ceremony) error {
	if p.c.cfg.Passkeys == nil {
		return imagegen.Invalid("this service is not set up to ask for passkeys")
	}
	u, err := p.c.cfg.Engine.Accounts().User(p.context(), k.user)
	if err != nil {
		return err
	}
	have, err := p.c.cfg.Logins.Passkeys(p.context(), u.ID)
	if err != nil {
		return err
	}
	id, uses, err := p.c.cfg.Passkeys.Answered(u, have, k.secret, []byte(f.secret(answerField)))
	if err == nil {
		err = p.c.cfg.Logins.UsePasskey(p.context(), id, uses, p.now)
	}
	if err != nil {
		p.signInFailed(u.Name)
		p.c.cfg.Log.WarnContext(p.context(), "a passkey was refused", "user", u.ID, "error", err)
	}
	return err
}
