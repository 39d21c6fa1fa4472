// Package oidctest is an OpenID Connect provider for tests, which can be made to send false tokens. It has one client
// and no pages: it signs every browser in at once. It checks what a client sends as strictly as a real provider
// does, so that a client that leaves something out fails.
package oidctest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// The client that a Provider knows.
const (
	ClientID = "imagegend"
	Secret   = "a secret of the client"
)

// Provider signs in everybody as the person whom the test chose last. It is safe for concurrent use.
type Provider struct {
	URL string // the issuer

	key, strange *ecdsa.PrivateKey // the published key, and one that is not

	mu     sync.Mutex                  // guards the rest
	person map[string]any              // claims about the person who is signed in
	lie    func(claims map[string]any) // changes the claims of each token
	forged bool                        // tokens are signed by strange
	codes  map[string]url.Values       // by code: the request that it answers
}

// Start serves a provider until the end of the test.
func Start(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{codes: map[string]url.Values{}, lie: func(map[string]any) {}}
	for _, k := range []**ecdsa.PrivateKey{&p.key, &p.strange} {
		var err error
		if *k, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	documents := &oidctest.Server{Algorithms: []string{oidc.ES256},
		PublicKeys: []oidctest.PublicKey{{PublicKey: p.key.Public(), KeyID: "key", Algorithm: oidc.ES256}}}
	mux := http.NewServeMux()
	mux.Handle("/", documents)
	mux.HandleFunc("GET /auth", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p.URL = server.URL
	documents.SetIssuer(p.URL)
	return p
}

// SignIn sets who is signed in from then on: a subject, and further claims as alternating names and values, which
// replace the token's own, such as auth_time.
func (p *Provider) SignIn(subject string, claims ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.person = map[string]any{"sub": subject}
	for i := 0; i < len(claims); i += 2 {
		p.person[claims[i].(string)] = claims[i+1]
	}
}

// Lie has lie change the claims of each token from then on, after all others are set.
func (p *Provider) Lie(lie func(claims map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lie = lie
}

// Forge makes tokens be signed with another key than the published one, under its identifier.
func (p *Provider) Forge() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forged = true
}

// authorize is the authorization endpoint: it sends the browser back at once, with a code. Only the code flow with
// PKCE is accepted.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "no such client, or no code with PKCE", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = q
	p.mu.Unlock()
	back := q.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.URL}}.Encode()
	http.Redirect(w, r, back, http.StatusFound)
}

// token is the token endpoint: it exchanges a code, once, for a token. Client, secret, redirect_uri and PKCE must be
// right.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	asked, known := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code")) // once
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	w.Header().Set("Content-Type", "application/json")
	if !known || id != ClientID || secret != url.QueryEscape(Secret) ||
		r.FormValue("redirect_uri") != asked.Get("redirect_uri") ||
		base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge") {
		w.WriteHeader(http.StatusBadRequest)
		// nobody is there to tell if the client has gone
		json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant"})
		return
	}
	json.NewEncoder(w).Encode(map[string]any{"access_token": "none", "token_type": "Bearer",
		"id_token": p.sign(asked.Get("nonce"))})
}

// sign returns an ID token about the person, valid for a minute.
func (p *Provider) sign(nonce string) string {
	now := time.Now()
	claims := map[string]any{"iss": p.URL, "aud": ClientID, "nonce": nonce, "iat": now.Unix(),
		"exp": now.Add(time.Minute).Unix(), "auth_time": now.Unix()}
	maps.Copy(claims, p.person)
	p.lie(claims)
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err) // of a test's own claims
	}
	key := p.key
	if p.forged {
		key = p.strange
	}
	return oidctest.SignIDToken(key, "key", oidc.ES256, string(text))
}
