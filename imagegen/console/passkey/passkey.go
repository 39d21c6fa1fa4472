// Package passkey creates and checks passkeys for the console, by WebAuthn. It keeps nothing: the console has the
// browser carry the secret of a ceremony, sealed, and the store has the passkeys.
//
// Attestation is not asked for, so any authenticator will do. Passkeys are a second factor: the console knows who
// signs in before it asks, so they need not be discoverable.
package passkey

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

// Config configures [Passkeys].
type Config struct {
	// Origin is where browsers reach the console, such as https://images.example.com. Passkeys belong to its host: if
	// that changes, all of them are useless. It must be https, except for localhost, and name a host instead of an
	// address.
	Origin string
	Name   string // of the service, as browsers show it; "": the host
}

// Passkeys is a [console.Passkeys]. It is safe for concurrent use.
type Passkeys struct{ web *webauthn.WebAuthn }

var _ console.Passkeys = (*Passkeys)(nil)

// New returns an error if browsers cannot use passkeys at the origin.
func New(c Config) (*Passkeys, error) {
	u, err := url.Parse(c.Origin)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "localhost") {
		return nil, fmt.Errorf("passkey: the origin must be such as https://images.example.com; got %q", c.Origin)
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return nil, fmt.Errorf("passkey: browsers have no passkeys at an address such as %s; use a name", u.Hostname())
	}
	web, err := webauthn.New(&webauthn.Config{RPID: u.Hostname(), RPDisplayName: cmp.Or(c.Name, u.Hostname()),
		RPOrigins:             []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementDiscouraged,
			UserVerification: protocol.VerificationPreferred}})
	if err != nil {
		return nil, fmt.Errorf("passkey: %w", err)
	}
	return &Passkeys{web}, nil
}

// BeginRegistration implements [console.Passkeys]. It names the user's other passkeys, so that an authenticator that
// has one of them refuses to create a second.
func (p *Passkeys) BeginRegistration(u imagegen.User, have []account.Passkey) (options, secret []byte, err error) {
	o, err := owned(u, have)
	if err != nil {
		return nil, nil, err
	}
	var others []protocol.CredentialDescriptor
	for _, c := range o.credentials {
		others = append(others, c.Descriptor())
	}
	creation, session, err := p.web.BeginRegistration(o, webauthn.WithExclusions(others))
	if err != nil {
		return nil, nil, fmt.Errorf("passkey: %w", err)
	}
	return encoded(creation.Response, session)
}

// FinishRegistration implements [console.Passkeys].
func (p *Passkeys) FinishRegistration(u imagegen.User, secret, answer []byte) (account.Passkey, error) {
	var session webauthn.SessionData
	if err := json.Unmarshal(secret, &session); err != nil {
		return account.Passkey{}, fmt.Errorf("passkey: %w", err)
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return account.Passkey{}, refused(err)
	}
	// The library checks challenge, origin, host and signature against the session.
	c, err := p.web.CreateCredential(owner{user: u}, session, parsed)
	if err != nil {
		return account.Passkey{}, refused(err)
	}
	kept, err := json.Marshal(c)
	return account.Passkey{ID: idOf(c.ID), Credential: kept, Uses: c.Authenticator.SignCount}, err
}

// BeginAuthentication implements [console.Passkeys].
func (p *Passkeys) BeginAuthentication(u imagegen.User, have []account.Passkey,
	verify bool) (options, secret []byte, err error) {
	o, err := owned(u, have)
	if err != nil {
		return nil, nil, err
	}
	verification := protocol.VerificationPreferred
	if verify {
		verification = protocol.VerificationRequired
	}
	assertion, session, err := p.web.BeginLogin(o, webauthn.WithUserVerification(verification))
	if err != nil {
		return nil, nil, fmt.Errorf("passkey: %w", err)
	}
	return encoded(assertion.Response, session)
}

// FinishAuthentication implements [console.Passkeys]. A counter that has not risen since the passkey was read is
// refused here; the store checks it once more when it records the use.
func (p *Passkeys) FinishAuthentication(u imagegen.User, have []account.Passkey, secret, answer []byte) (
	id account.PasskeyID, uses uint32, verified bool, err error) {
	var session webauthn.SessionData
	if err := json.Unmarshal(secret, &session); err != nil {
		return "", 0, false, fmt.Errorf("passkey: %w", err)
	}
	o, err := owned(u, have)
	if err != nil {
		return "", 0, false, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return "", 0, false, refused(err)
	}
	c, err := p.web.ValidateLogin(o, session, parsed)
	if err != nil {
		return "", 0, false, refused(err)
	}
	if c.Authenticator.CloneWarning {
		return "", 0, false, refused(errors.New("its count went back"))
	}
	return idOf(c.ID), c.Authenticator.SignCount, parsed.Response.AuthenticatorData.Flags.HasUserVerified(), nil
}

// encoded returns the options for the browser and the library's session, which is the secret, both as JSON.
func encoded(options any, session *webauthn.SessionData) (text, secret []byte, err error) {
	text, err = json.Marshal(options)
	if err != nil {
		return nil, nil, fmt.Errorf("passkey: %w", err)
	}
	secret, err = json.Marshal(session)
	return text, secret, err
}

// refused makes an ErrInvalidRequest whose message is for users. The cause, with the library's details, is only for
// the log.
func refused(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		err = fmt.Errorf("%w: %s", err, e.DevInfo)
	}
	return &imagegen.Error{Code: imagegen.CodeInvalidRequest, Message: "the passkey was not accepted", Err: err}
}

// idOf encodes the identifier that an authenticator has chosen.
func idOf(id []byte) account.PasskeyID {
	return account.PasskeyID(base64.RawURLEncoding.EncodeToString(id))
}

// owner is a user with passkeys, as a webauthn.User.
type owner struct {
	user        imagegen.User
	credentials []webauthn.Credential
}

// owned decodes the stored passkeys. The counter comes from the store: that in the credential is the one at its
// creation.
func owned(u imagegen.User, have []account.Passkey) (owner, error) {
	o := owner{user: u}
	for _, k := range have {
		var c webauthn.Credential
		if err := json.Unmarshal(k.Credential, &c); err != nil {
			return o, fmt.Errorf("passkey: the passkey %s of %s cannot be read: %w", k.Name, u.ID, err)
		}
		c.Authenticator.SignCount = k.Uses
		o.credentials = append(o.credentials, c)
	}
	return o, nil
}

// WebAuthnID is a hash of the user's identifier: an authenticator stores it, so it should not tell who the user is, and
// must have at most 64 bytes.
func (o owner) WebAuthnID() []byte {
	hash := sha256.Sum256([]byte(o.user.ID))
	return hash[:]
}

func (o owner) WebAuthnName() string                       { return o.user.Name }
func (o owner) WebAuthnDisplayName() string                { return o.user.Name }
func (o owner) WebAuthnCredentials() []webauthn.Credential { return o.credentials }
