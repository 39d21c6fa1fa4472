package passkey_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/passkey"
	"github.com/imagegend/imagegend/imagegen/console/passkey/passkeytest"
)

const (
	origin = "https://images.example.com"
	host   = "images.example.com"
)

var (
	alice = imagegen.User{ID: "usr_1", Name: "alice"}
	bob   = imagegen.User{ID: "usr_2", Name: "bob"}
)

// holder is a user with an authenticator.
type holder struct {
	*testing.T
	is *is.I
	*passkey.Passkeys
	*passkeytest.Authenticator
	have []account.Passkey
}

func hold(t *testing.T) *holder {
	t.Helper()
	p, err := passkey.New(passkey.Config{Origin: origin})
	h := &holder{t, is.New(t), p, passkeytest.New(t, origin, host), nil}
	h.is.NoErr(err)
	return h
}

// registers makes the user's first passkey.
func (h *holder) registers(u imagegen.User) *holder {
	h.Helper()
	options, secret, err := h.BeginRegistration(u, nil)
	h.is.NoErr(err)
	made, err := h.FinishRegistration(u, secret, h.Make(options))
	h.is.NoErr(err)
	made.User = u.ID
	h.have = append(h.have, made)
	return h
}

func (h *holder) uses(u imagegen.User, verify bool) (account.PasskeyID, uint32, error) {
	h.Helper()
	options, secret, err := h.BeginAuthentication(u, h.have, verify)
	h.is.NoErr(err)
	id, uses, verified, err := h.FinishAuthentication(u, h.have, secret, h.Use(options))
	h.is.True(err != nil || verified == h.Verifies)
	return id, uses, err
}

func (h *holder) refused(err error) {
	h.Helper()
	if !errors.Is(err, imagegen.ErrInvalidRequest) || err.Error() == "" {
		h.Errorf("%v", err)
	}
}

func TestPasskey(t *testing.T) {
	h := hold(t).registers(alice)
	for n := range uint32(3) {
		id, uses, err := h.uses(alice, true)
		h.is.NoErr(err)
		h.is.Equal(id, h.have[0].ID)
		h.is.Equal(uses, n+2)
		h.have[0].Uses = uses
	}
	options, _, err := h.BeginRegistration(alice, h.have)
	h.is.NoErr(err)
	h.is.True(strings.Contains(string(options), `"excludeCredentials":[{"type":"public-key","id":"`+
		string(h.have[0].ID)+`"`)) // none is made twice
}

// False statements of an authenticator or a browser are refused.
func TestLies(t *testing.T) {
	for name, lie := range map[string]func(h *holder){
		"origin":        func(h *holder) { h.Origin = "https://evil.example" },
		"scheme":        func(h *holder) { h.Origin = "http://images.example.com" },
		"port":          func(h *holder) { h.Origin = origin + ":8443" },
		"subdomain":     func(h *holder) { h.Origin = "https://x.images.example.com" },
		"host":          func(h *holder) { h.Host = "evil.example" },
		"nobody there":  func(h *holder) { h.Absent = true },
		"not verified":  func(h *holder) { h.Verifies = false },
		"type":          func(h *holder) { h.Type = "webauthn.create" },
		"count back":    func(h *holder) { h.Uses = 0 },
		"no more count": func(h *holder) { h.Uses, h.Counts = 0, false },
		"unknown":       func(h *holder) { h.ID = bytes.Repeat([]byte{7}, 16) },
		"another key":   func(h *holder) { id := h.ID; h.Authenticator = passkeytest.New(h, origin, host); h.ID = id },
	} {
		t.Run(name, func(t *testing.T) {
			h := hold(t).registers(alice)
			h.Uses = 5
			_, uses, err := h.uses(alice, true)
			h.is.NoErr(err)
			h.have[0].Uses = uses
			lie(h)
			_, _, err = h.uses(alice, true)
			h.refused(err)
		})
	}
}

// Without verify a touch is enough.
func TestUnverified(t *testing.T) {
	h := hold(t).registers(alice)
	h.Verifies = false
	_, _, err := h.uses(alice, false)
	h.is.NoErr(err)
}

// An answer counts only for its own challenge and user.
func TestReplay(t *testing.T) {
	h := hold(t).registers(alice)
	options, _, err := h.BeginAuthentication(alice, h.have, false)
	h.is.NoErr(err)
	answer := h.Use(options)
	_, secret, err := h.BeginAuthentication(alice, h.have, false)
	h.is.NoErr(err)
	_, _, _, err = h.FinishAuthentication(alice, h.have, secret, answer)
	h.refused(err) // another challenge

	options, secret, err = h.BeginAuthentication(alice, h.have, false)
	h.is.NoErr(err)
	answer = h.Use(options)
	_, _, _, err = h.FinishAuthentication(bob, h.have, secret, answer)
	h.refused(err) // another user, be it with the same passkeys

	his := hold(t).registers(bob)
	options, secret, err = h.BeginAuthentication(alice, h.have, false)
	h.is.NoErr(err)
	_, _, _, err = h.FinishAuthentication(alice, h.have, secret, his.Use(options))
	h.refused(err) // another's passkey
	_, _, _, err = h.FinishAuthentication(alice, his.have, secret, his.Use(options))
	h.refused(err)
}

// A passkey must be created for the requested user, on the right origin.
func TestRegistrationLies(t *testing.T) {
	for name, lie := range map[string]func(h *holder){
		"origin":       func(h *holder) { h.Origin = "https://evil.example" },
		"host":         func(h *holder) { h.Host = "evil.example" },
		"type":         func(h *holder) { h.Type = "webauthn.get" },
		"nobody there": func(h *holder) { h.Absent = true },
	} {
		t.Run(name, func(t *testing.T) {
			h := hold(t)
			lie(h)
			options, secret, err := h.BeginRegistration(alice, nil)
			h.is.NoErr(err)
			_, err = h.FinishRegistration(alice, secret, h.Make(options))
			h.refused(err)
		})
	}
	h := hold(t)
	options, _, err := h.BeginRegistration(alice, nil)
	h.is.NoErr(err)
	_, secret, err := h.BeginRegistration(alice, nil)
	h.is.NoErr(err)
	_, err = h.FinishRegistration(alice, secret, h.Make(options))
	h.refused(err) // another challenge
	options, secret, err = h.BeginRegistration(alice, nil)
	h.is.NoErr(err)
	_, err = h.FinishRegistration(bob, secret, h.Make(options))
	h.refused(err) // another user
}

// Malformed answers are refused without a panic.
func TestNonsense(t *testing.T) {
	h := hold(t).registers(alice)
	options, secret, err := h.BeginAuthentication(alice, h.have, false)
	h.is.NoErr(err)
	answer := h.Use(options)
	for _, a := range [][]byte{nil, []byte("{}"), []byte("null"), []byte("[]"), []byte(`{"id":"x"}`),
		answer[:len(answer)/2]} {
		_, _, _, err := h.FinishAuthentication(alice, h.have, secret, a)
		h.refused(err)
		_, err = h.FinishRegistration(alice, secret, a)
		h.refused(err)
	}
	var fields map[string]any
	h.is.NoErr(json.Unmarshal(answer, &fields))
	response := fields["response"].(map[string]any)
	for name, whole := range response {
		if name == "userHandle" {
			continue
		}
		response[name] = whole.(string)[:8]
		cut, err := json.Marshal(fields)
		h.is.NoErr(err)
		_, _, _, err = h.FinishAuthentication(alice, h.have, secret, cut)
		h.refused(err)
		response[name] = whole
	}
}

func TestConfig(t *testing.T) {
	is := is.New(t)
	for _, bad := range []string{"", "images.example.com", "http://images.example.com", "https://192.0.2.1",
		"https://[::1]:8080"} {
		_, err := passkey.New(passkey.Config{Origin: bad})
		is.True(err != nil)
	}
	for _, good := range []string{"https://images.example.com", "https://images.example.com:8443",
		"http://localhost:8080"} {
		_, err := passkey.New(passkey.Config{Origin: good})
		is.NoErr(err)
	}
}
