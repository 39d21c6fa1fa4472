package signin

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/link"
	"github.com/imagegend/imagegend/imagegen/console/internal/seal"
)

// maxPasskeys is how many passkeys a user can have.
const maxPasskeys = 20

// The fields of a form that carries a passkey's answer; passkey.js fills in the second.
const (
	ceremonyField = "passkey_ceremony" // the ceremony, sealed
	answerField   = "passkey_answer"   // what the browser answers, as JSON
)

// ceremony is a browser that creates a passkey or uses one. The page's form carries it, sealed for its purpose: an
// answer given to sign in does not confirm, for instance. It waits for seal.WaitTime and for one answer, of the sign-in
// that asked or, if nobody is signed in yet, of the browser that asked; it is too large for a cookie.
type ceremony struct {
	User    imagegen.UserID
	Secret  []byte        // for the Passkeys
	Name    string        // toMakePasskey: of the new passkey
	Pending pendingSignIn // toSignIn: what to complete
}

// browserCookie names the cookie by which a browser is known while somebody signs in there by a passkey.
const browserCookie = "ceremony"

// browserToken is the value of that cookie; "": the browser has none.
func browserToken(p *frame.Page) string {
	value, _ := p.Cookie(browserCookie)
	return value
}

// prompt is what a page needs whose script uses a passkey.
type prompt struct {
	Ceremony string // sealed
	Options  string // as JSON
}

// askForPasskey begins a ceremony in which the user has to use one of their passkeys; k holds what it is for.
// ErrInvalidRequest: the service is not set up for passkeys. Then the user cannot sign in, rather than without the
// passkey.
func (s *Pages) askForPasskey(p *frame.Page, why purpose, u imagegen.User, have []account.Passkey, k ceremony,
	verify bool) (prompt, error) {
	if s.Passkeys == nil {
		return prompt{}, imagegen.Invalid(
			"you have a passkey, and this service is not set up to ask for it; tell the operator")
	}
	options, secret, err := s.Passkeys.BeginAuthentication(u, have, verify)
	if err != nil {
		return prompt{}, err
	}
	owner := p.Person.Owner()
	if why == toSignIn {
		if owner = browserToken(p); owner == "" {
			owner, _ = link.NewToken()
		}
		p.SetCookie(browserCookie, owner, seal.WaitTime)
	}
	k.User, k.Secret = u.ID, secret
	sealed, err := p.Seal(string(why), owner, seal.WaitTime, k)
	return prompt{sealed, string(options)}, err
}

// verifyPasskey ends such a ceremony: it checks the answer in the form, and records the use. verified says that the
// authenticator has verified its user. ErrInvalidRequest: the answer is not valid, or the passkey's counter has not
// risen, so that it may be a copy. ErrNotFound: the passkey was removed meanwhile. A refusal counts as a failed sign-in
// in the audit trail.
func (s *Pages) verifyPasskey(p *frame.Page, f *form.Form, k ceremony) (verified bool, err error) {
	if s.Passkeys == nil {
		return false, imagegen.Invalid("this service is not set up to ask for passkeys")
	}
	u, err := p.Engine.Accounts().User(p.Context(), k.User)
	if err != nil {
		return false, err
	}
	// The passkeys are read again: one that was removed since the question must not answer it.
	have, err := p.Logins.Passkeys(p.Context(), u.ID)
	if err != nil {
		return false, err
	}
	id, uses, verified, err := s.Passkeys.FinishAuthentication(u, have, k.Secret, []byte(f.Secret(answerField)))
	if err == nil {
		err = consumeCeremony(p, f)
	}
	// The store compares the counter in one transaction, so of two answers with the same count one is refused.
	if err == nil {
		err = p.Logins.UsePasskey(p.Context(), id, uses, p.Now)
	}
	if err != nil {
		p.CountFailedSignIn(u.Name)
		p.Log.WarnContext(p.Context(), "a passkey was refused", "user", u.ID, "error", err)
	}
	return verified, err
}

// consumeCeremony uses up the ceremony of a form. ErrInvalidRequest: it was answered before; an authenticator that does
// not count would not notice.
func consumeCeremony(p *frame.Page, f *form.Form) error {
	first, err := p.UsedFirst(f.Value(ceremonyField))
	if err == nil && !first {
		err = imagegen.Invalid("it was done already; begin again")
	}
	return err
}
