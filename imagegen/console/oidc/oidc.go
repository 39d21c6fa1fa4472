// Package oidc lets people sign in to the console by OpenID Connect. It is a client for the authorization code flow,
// with PKCE, state and nonce.
//
// Begin makes the address to which a browser is sent; Finish checks what it comes back with, exchanges the code for an
// ID token, and checks that. What must be kept between the two is in the secret that Begin returns. Access tokens are
// thrown away: the package asks the provider who somebody is, and nothing else.
package oidc

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/internal/guard"
)

// Config configures a [Provider]. Issuer and ClientID are required.
type Config struct {
	// Issuer is the issuer exactly as its tokens name it, such as https://id.example.com. Plain http is accepted for
	// this machine only.
	Issuer   string
	ClientID string
	Secret   imagegen.Secret // "": a public client
	Name     string          // the name by which people know the provider; "": the issuer's host

	// RoleClaim is the claim that says who is an operator: a string or a list of strings. Points lead into objects,
	// such as realm_access.roles. "": the provider does not decide, and operators are made in the console.
	RoleClaim string
	// OperatorValue makes somebody with it in RoleClaim an operator. Everybody else who signs in is not. It is required
	// if RoleClaim is set.
	OperatorValue string

	Now func() time.Time // nil: time.Now
}

// Provider is a [console.IdentityProvider]. It asks the issuer for its addresses when it first needs them, so that the
// service starts even while the issuer is down. It is safe for concurrent use.
type Provider struct {
	config Config
	http   *http.Client

	mu     sync.Mutex
	issuer *discovery // guarded by mu; nil: it has not been asked, or has not answered
}

// discovery is one question to the issuer of what it is. The fields are set when done is closed.
type discovery struct {
	done     chan struct{}
	provider *oidc.Provider
	err      error
}

var _ console.IdentityProvider = (*Provider)(nil)

// New checks the configuration, without asking the issuer. An error names everything that is wrong with it.
func New(c Config) (*Provider, error) {
	var errs []error
	u, err := url.Parse(c.Issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		errs = append(errs, fmt.Errorf("oidc: the issuer must be such as https://id.example.com; got %q", c.Issuer))
	}
	if c.ClientID == "" {
		errs = append(errs, errors.New("oidc: the client's identifier is required"))
	}
	if (c.RoleClaim == "") != (c.OperatorValue == "") {
		errs = append(errs,
			errors.New("oidc: the claim with the roles and the value that makes an operator go together"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	c.Name = cmp.Or(c.Name, u.Hostname())
	if c.Now == nil {
		c.Now = time.Now
	}
	t := transport{u.Hostname(), guard.Transport(true), guard.Transport(false)}
	return &Provider{config: c, http: &http.Client{Timeout: answerTime, Transport: t}}, nil
}

// loopback reports whether a host is this machine. Over plain HTTP to any other, tokens and the secret could be read.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Issuer implements [console.IdentityProvider].
func (p *Provider) Issuer() string { return p.config.Issuer }

// Name implements [console.IdentityProvider].
func (p *Provider) Name() string { return p.config.Name }

// Discover asks the issuer for its addresses, unless they are known already. It is for checking a configuration; Begin
// and Finish discover by themselves.
func (p *Provider) Discover(ctx context.Context) error {
	_, err := p.discover(ctx)
	return err
}

// discover returns the issuer's description. All who come while the issuer is asked wait for one answer. A failure is
// not remembered: the next call asks again.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	d := p.issuer
	if d == nil {
		d = &discovery{done: make(chan struct{})}
		p.issuer = d
		go p.ask(d)
	}
	p.mu.Unlock()
	select {
	case <-d.done:
		return d.provider, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask asks the issuer, for at most answerTime.
func (p *Provider) ask(d *discovery) {
	d.provider, d.err = oidc.NewProvider(oidc.ClientContext(context.Background(), p.http), p.config.Issuer)
	if d.err != nil {
		d.err = fmt.Errorf("oidc: the issuer %s does not tell of itself: %w", p.config.Issuer, d.err)
		p.mu.Lock()
		p.issuer = nil
		p.mu.Unlock()
	}
	close(d.done)
}

// authRequest is the secret of one authorization request, as JSON. State ties the browser's return to it, Nonce the ID
// token, and Verifier (PKCE) the exchange of the code.
type authRequest struct {
	State, Nonce, Verifier, Callback string
	Again                            time.Time // people must have authenticated at this time or later; zero: any time
}

// longAge is an age, in seconds, that nobody's authentication has. A provider that is asked for one must say when it
// authenticated somebody (OpenID Connect Core 1.0, section 2); some say so only then.
const longAge = "315360000"

// Begin implements [console.IdentityProvider]. With again it asks by max_age=0, to which the provider must answer with
// the time of the authentication; prompt=login is for those that ignore it.
func (p *Provider) Begin(ctx context.Context, callback string, again bool) (address string, secret []byte, err error) {
	d, err := p.discover(ctx)
	if err != nil {
		return "", nil, err
	}
	v := authRequest{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Callback: callback}
	age := longAge
	options := []oauth2.AuthCodeOption{oidc.Nonce(v.Nonce), oauth2.S256ChallengeOption(v.Verifier)}
	if again {
		v.Again, age = p.config.Now(), "0"
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"))
	}
	options = append(options, oauth2.SetAuthURLParam("max_age", age))
	secret, err = json.Marshal(v)
	return p.client(d, callback).AuthCodeURL(v.State, options...), secret, err
}

func (p *Provider) client(d *oidc.Provider, callback string) *oauth2.Config {
	return &oauth2.Config{ClientID: p.config.ClientID, ClientSecret: p.config.Secret.Reveal(), Endpoint: d.Endpoint(),
		RedirectURL: callback, Scopes: []string{oidc.ScopeOpenID, "profile", "email"}}
}

// Finish implements [console.IdentityProvider]. The order matters: the return is checked before anything is sent to the
// provider, so that nobody can have this service redeem the code of another request.
func (p *Provider) Finish(ctx context.Context, secret []byte,
	query url.Values) (who console.ExternalIdentity, err error) {
	var v authRequest
	if err := json.Unmarshal(secret, &v); err != nil {
		return who, fmt.Errorf("oidc: %w", err)
	}
	if err := p.checkReturn(v, query); err != nil {
		return who, err
	}
	d, err := p.discover(ctx)
	if err != nil {
		return who, err
	}
	token, err := p.redeem(ctx, d, v, query.Get("code"))
	if err != nil {
		return who, err
	}
	var c claims
	var all map[string]any
	if err := errors.Join(token.Claims(&c), token.Claims(&all)); err != nil {
		return who, imagegen.Invalid("the token of %s cannot be read", p.config.Name)
	}
	if err := p.checkToken(v, token, c); err != nil {
		return who, err
	}
	// The name is the first of several claims that is set; providers differ in which.
	who = console.ExternalIdentity{Subject: token.Subject,
		Name: cmp.Or(c.PreferredUsername, c.Email, c.Name, token.Subject)}
	if c.AuthTime > 0 {
		who.AuthenticatedAt = time.Unix(c.AuthTime, 0)
	}
	if p.config.RoleClaim != "" {
		who.Role = account.RoleUser
		if slices.Contains(texts(find(all, p.config.RoleClaim)), p.config.OperatorValue) {
			who.Role = account.RoleOperator
		}
	}
	return who, nil
}

// checkReturn compares what the browser came back with to what it was sent with. The issuer in the answer (RFC 9207) is
// optional; one that differs means that the answer is from another provider.
func (p *Provider) checkReturn(v authRequest, query url.Values) error {
	if !same(query.Get("state"), v.State) {
		return imagegen.Invalid("the browser came back with another state than it was sent with")
	}
	if iss := query.Get("iss"); iss != "" && iss != p.config.Issuer {
		return imagegen.Invalid("the browser came back from another issuer, %.200q", iss)
	}
	if refused := query.Get("error"); refused != "" {
		return imagegen.Invalid("%s refused: %.200q", p.config.Name, refused)
	}
	return nil
}

// redeem exchanges the code for an ID token, and checks its signature, issuer, audience and expiry.
// ErrInvalidRequest: the provider refuses the code, or the token is not valid. Other errors: it could not be asked.
func (p *Provider) redeem(ctx context.Context, d *oidc.Provider, v authRequest, code string) (*oidc.IDToken, error) {
	ctx = oidc.ClientContext(ctx, p.http)
	tokens, err := p.client(d, v.Callback).Exchange(ctx, code, oauth2.VerifierOption(v.Verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return nil, imagegen.Invalid("%s does not take the code: %.200q", p.config.Name, refused.ErrorCode)
	}
	if err != nil {
		return nil, fmt.Errorf("oidc: the code could not be exchanged at %s: %w", p.config.Issuer, err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := d.Verifier(&oidc.Config{ClientID: p.config.ClientID, Now: p.config.Now}).Verify(ctx, raw)
	if err != nil {
		return nil, &imagegen.Error{Code: imagegen.CodeInvalidRequest,
			Message: "the token of " + p.config.Name + " is not valid", Err: err}
	}
	if token.AccessTokenHash != "" && token.VerifyAccessToken(tokens.AccessToken) != nil {
		return nil, imagegen.Invalid("the token of %s is about another access token", p.config.Name)
	}
	return token, nil
}

// claims are the claims of an ID token that go-oidc does not read itself.
type claims struct {
	AuthorizedParty   string `json:"azp"`
	AuthTime          int64  `json:"auth_time"`
	PreferredUsername string `json:"preferred_username"`
	Email             string `json:"email"`
	Name              string `json:"name"`
}

// checkToken checks that a valid token answers this request, is about somebody, and was made for this client: with
// several audiences it must name the client as the authorized party.
func (p *Provider) checkToken(v authRequest, token *oidc.IDToken, c claims) error {
	switch {
	case !same(token.Nonce, v.Nonce):
		return imagegen.Invalid("the token of %s answers another request", p.config.Name)
	case token.Subject == "":
		return imagegen.Invalid("the token of %s is about nobody", p.config.Name)
	case c.AuthorizedParty != "" && c.AuthorizedParty != p.config.ClientID,
		c.AuthorizedParty == "" && len(token.Audience) > 1:
		return imagegen.Invalid("the token of %s was made for another service", p.config.Name)
	case !v.Again.IsZero() && time.Unix(c.AuthTime, 0).Before(v.Again.Add(-skew)):
		return imagegen.Invalid("%s did not ask anew who you are", p.config.Name)
	}
	return nil
}

// skew is how far the provider's clock may be behind this one.
const skew = time.Minute

// same compares two strings in constant time, so that a secret cannot be guessed bit by bit.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
