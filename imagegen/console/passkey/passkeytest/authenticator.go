// Package passkeytest is an authenticator in software together with its browser, for tests. What they say is in
// fields that a test can change, so that they lie: about the origin, the host, the counter, or whether anybody was
// there.
package passkeytest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// The flags in an authenticator's data, as WebAuthn numbers them.
const (
	userPresent  = 1 << 0
	userVerified = 1 << 2
	hasKey       = 1 << 6
)

// Authenticator holds one passkey. It is not safe for concurrent use.
type Authenticator struct {
	Origin string // where the browser says it is
	Host   string // the host (RP ID) that the passkey is for
	Type   string // what the browser says it was asked for, such as webauthn.get; "": the truth

	ID       []byte
	Uses     uint32 // how often it says it was used so far
	Counts   bool   // each use raises Uses
	Verifies bool   // it says that it has verified its user
	Absent   bool   // it says that nobody was present

	key    *ecdsa.PrivateKey
	handle string // of the user for whom the passkey was made
}

// New returns an authenticator without a passkey, and a browser at an origin of that host.
func New(t testing.TB, origin, host string) *Authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	rand.Read(id) // never fails
	return &Authenticator{Origin: origin, Host: host, ID: id, Counts: true, Verifies: true, key: key}
}

// asked is the part of the options that matters here.
type asked struct {
	Challenge string
	User      struct{ ID string }
}

// Make answers the options for creating a passkey, as JSON as a browser does. There is no attestation.
func (a *Authenticator) Make(options []byte) []byte {
	q := read(options)
	a.handle = q.User.ID
	point, err := a.key.PublicKey.Bytes()
	must(err)
	key, err := webauthncbor.Marshal(webauthncose.EC2PublicKeyData{
		PublicKeyData: webauthncose.PublicKeyData{KeyType: int64(webauthncose.EllipticKey),
			Algorithm: int64(webauthncose.AlgES256)},
		Curve: int64(webauthncose.P256), XCoord: point[1:33], YCoord: point[33:]})
	must(err)
	var attested bytes.Buffer
	attested.Write(make([]byte, 16)) // of no make
	must(binary.Write(&attested, binary.BigEndian, uint16(len(a.ID))))
	attested.Write(a.ID)
	attested.Write(key)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{},
		"authData": a.data(hasKey, attested.Bytes())})
	must(err)
	return a.answer(map[string]any{"clientDataJSON": text(a.client("webauthn.create", q.Challenge)),
		"attestationObject": text(object)})
}

// Use answers the options for using the passkey, whichever passkeys they name.
func (a *Authenticator) Use(options []byte) []byte {
	data, client := a.data(0, nil), a.client("webauthn.get", read(options).Challenge)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(bytes.Clone(data), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	must(err)
	return a.answer(map[string]any{"clientDataJSON": text(client), "authenticatorData": text(data),
		"signature": text(signature), "userHandle": a.handle})
}

func read(options []byte) (q asked) {
	must(json.Unmarshal(options, &q))
	return q
}

// data returns the authenticator's data: a hash of the host, the flags, and the counter. What was attested follows.
func (a *Authenticator) data(flags byte, attested []byte) []byte {
	if !a.Absent {
		flags |= userPresent
	}
	if a.Verifies {
		flags |= userVerified
	}
	if a.Counts {
		a.Uses++
	}
	hash := sha256.Sum256([]byte(a.Host))
	said := binary.BigEndian.AppendUint32(append(hash[:], flags), a.Uses)
	return append(said, attested...)
}

// client returns the browser's data: what was asked, and at which origin.
func (a *Authenticator) client(kind, challenge string) []byte {
	if a.Type != "" {
		kind = a.Type
	}
	said, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin,
		"crossOrigin": false})
	must(err)
	return said
}

// answer wraps a response as a browser does in JSON.
func (a *Authenticator) answer(response map[string]any) []byte {
	said, err := json.Marshal(map[string]any{"id": text(a.ID), "rawId": text(a.ID), "type": "public-key",
		"response": response, "clientExtensionResults": map[string]any{}})
	must(err)
	return said
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// must panics for errors that cannot happen with a test's own values.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
