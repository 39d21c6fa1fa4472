// Package passkey makes and checks passkeys for the console, by WebAuthn.
package passkey

import (
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

// Config makes [Passkeys].
type Config struct {
	// Origin is where browsers reach the console, such as https://images.example.com: a passkey is of use at this host
	// alone. It is https, but for localhost, and names a host, not an address.
	Origin string
	Name   string // of the service, as browsers show it; "": the host
}

// Passkeys is a [console.Passkeys].
type Passkeys struct{ web *webauthn.WebAuthn }

var _ console.Passkeys = (*Passkeys)(nil)

// New returns an error if browsers have no passkeys at the origin.
func New(c Config) (*Passkeys, error) {
	u, err := url.Parse(c.Origin)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "localhost") {
		return nil, fmt.Errorf("passkey: the origin must be such as https://images.example.com; got %q", c.Origin)
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return nil, fmt.Errorf("passkey: browsers have no passkeys at an address such as %s; use a name", u.Hostname())
	}
	if c.Name == "" {
		c.Name = u.Hostname()
	}
	web, err := webauthn.New(&webauthn.Config{RPID: u.Hostname(), RPDisplayName: c.Name, RPOrigins: []string{u.Scheme + "://" + u.Host},
		AttestationPreference:  protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementDiscouraged, UserVerification: protocol.VerificationPreferred}})
	if err != nil {
		return nil, fmt.Errorf("passkey: %w", err)
	}
	return &Passkeys{web}, nil
}

// Create implements [console.Passkeys].
func (p *Passkeys) Create(u imagegen.User, have []account.Passkey) (options, secret []byte, err error) {
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

// Created implements [console.Passkeys].
func (p *Passkeys) Created(u imagegen.User, secret, answer []byte) (account.Passkey, error) {
	var session webauthn.SessionData
	if err := json.Unmarshal(secret, &session); err != nil {
		return account.Passkey{}, fmt.Errorf("passkey: %w", err)
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return account.Passkey{}, refused(err)
	}
	c, err := p.web.CreateCredential(owner{user: u}, session, parsed)
	if err != nil {
		return account.Passkey{}, refused(err)
	}
	kept, err := json.Marshal(c)
	return account.Passkey{ID: idOf(c.ID), Credential: kept, Uses: c.Authenticator.SignCount}, err
}

// Ask implements [console.Passkeys].
func (p *Passkeys) Ask(u imagegen.User, have []account.Passkey, verify bool) (options, secret []byte, err error) {
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

// Answered implements [console.Passkeys].
func (p *Passkeys) Answered(u imagegen.User, have []account.Passkey, secret, answer []byte) (id account.PasskeyID, uses uint32, err error) {
	var session webauthn.SessionData
	if err := json.Unmarshal(secret, &session); err != nil {
		return "", 0, fmt.Errorf("passkey: %w", err)
	}
	o, err := owned(u, have)
	if err != nil {
		return "", 0, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return "", 0, refused(err)
	}
	c, err := p.web.ValidateLogin(o, session, parsed)
	if err != nil {
		return "", 0, refused(err)
	}
	if c.Authenticator.CloneWarning {
		return "", 0, refused(errors.New("its count went back"))
	}
	return idOf(c.ID), c.Authenticator.SignCount, nil
}

// encoded is what a browser is told, and what is kept of it meanwhile.
func encoded(options any, session *webauthn.SessionData) (told, secret []byte, err error) {
	told, err = json.Marshal(options)
	if err != nil {
		return nil, nil, fmt.Errorf("passkey: %w", err)
	}
	secret, err = json.Marshal(session)
	return told, secret, err
}

// refused leaves out of an error what only a log has to know.
func refused(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		err = fmt.Errorf("%w: %s", err, e.DevInfo)
	}
	return &imagegen.Error{Code: imagegen.CodeInvalidRequest, Message: "the passkey was not accepted", Err: err}
}

func idOf(id []byte) account.PasskeyID {
	return account.PasskeyID(base64.RawURLEncoding.EncodeToString(id))
}

// owner is a user with passkeys, as the library asks for one.
type owner struct {
	user        imagegen.User
	credentials []webauthn.Credential
}

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

// WebAuthnID tells nothing of the user, whose identifier may be of any length.
func (o owner) WebAuthnID() []byte {
	hash := sha256.Sum256([]byte(o.user.ID))
	return hash[:]
}

func (o owner) WebAuthnName() string                       { return o.user.Name }
func (o owner) WebAuthnDisplayName() string                { return o.user.Name }
func (o owner) WebAuthnCredentials() []webauthn.Credential { return o.credentials }
