// Package oidc lets people sign in to the console by OpenID Connect: with the code flow, PKCE, state and nonce.
package oidc

import (
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
)

// Config makes a [Provider]. Issuer and ClientID are required.
type Config struct {
	Issuer   string // as its tokens have it, such as https://id.example.com
	ClientID string
	Secret   imagegen.Secret // "": the client has none
	Name     string          // what people know the provider by; "": the issuer's host

	// RoleClaim is the claim that says who is an operator: a text or a list of texts, within others by points, such as
	// realm_access.roles. "": the provider does not say; roles are given in the console.
	RoleClaim string
	// OperatorValue is the text that makes an operator, where RoleClaim is or holds it. Who lacks it is none.
	OperatorValue string

	Client *http.Client     // nil: one that gives the provider 15 seconds for each answer
	Now    func() time.Time // nil: time.Now
}

// Provider is a [console.IdentityProvider]. It asks the issuer for its addresses when it first needs them, so that
// nothing else waits for an issuer that is down.
type Provider struct {
	config Config

	mu         sync.Mutex
	discovered *oidc.Provider // nil: not yet
}

var _ console.IdentityProvider = (*Provider)(nil)

// answerTime is how long the provider has for an answer.
const answerTime = 15 * time.Second

// New checks the configuration; an error names everything that is wrong with it at once. It asks nobody.
func New(c Config) (*Provider, error) {
	var errs []error
	u, err := url.Parse(c.Issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		errs = append(errs, fmt.Errorf("oidc: the issuer must be such as https://id.example.com; got %q", c.Issuer))
	}
	if c.ClientID == "" {
		errs = append(errs, errors.New("oidc: the client's identifier is required"))
	}
	if (c.RoleClaim == "") != (c.OperatorValue == "") {
		errs = append(errs, errors.New("oidc: the claim with the roles and the value that makes an operator go together"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if c.Name == "" {
		c.Name = u.Hostname()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Client == nil {
		c.Client = &http.Client{Timeout: answerTime}
	}
	return &Provider{config: c}, nil
}

// loopback reports whether a host is this machine, where nobody else listens to plain HTTP.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Issuer implements [console.IdentityProvider].
func (p *Provider) Issuer() string { return p.config.Issuer }

// Name implements [console.IdentityProvider].
func (p *Provider) Name() string { return p.config.Name }

// Discover asks the issuer for its addresses, unless it is known to have told them.
func (p *Provider) Discover(ctx context.Context) error {
	_, err := p.discover(ctx)
	return err
}

func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.discovered != nil {
		return p.discovered, nil
	}
	d, err := oidc.NewProvider(oidc.ClientContext(ctx, p.config.Client), p.config.Issuer)
	if err != nil {
		return nil, fmt.Errorf("oidc: the issuer %s does not tell of itself: %w", p.config.Issuer, err)
	}
	p.discovered = d
	return d, nil
}

// visit is what is kept of somebody who is on the way.
type visit struct {
	State, Nonce, Verifier, Callback string
	Again                            time.Time // they have to prove who they are after it; zero: whenever
}

// Begin implements [console.IdentityProvider].
func (p *Provider) Begin(ctx context.Context, callback string, again bool) (address string, secret []byte, err error) {
	d, err := p.discover(ctx)
	if err != nil {
		return "", nil, err
	}
	v := visit{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Callback: callback}
	options := []oauth2.AuthCodeOption{oidc.Nonce(v.Nonce), oauth2.S256ChallengeOption(v.Verifier)}
	if again {
		v.Again = p.config.Now()
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	secret, err = json.Marshal(v)
	return p.client(d, callback).AuthCodeURL(v.State, options...), secret, err
}

func (p *Provider) client(d *oidc.Provider, callback string) *oauth2.Config {
	return &oauth2.Config{ClientID: p.config.ClientID, ClientSecret: p.config.Secret.Reveal(), Endpoint: d.Endpoint(),
		RedirectURL: callback, Scopes: []string{oidc.ScopeOpenID, "profile", "email"}}
}

// Finish implements [console.IdentityProvider].
func (p *Provider) Finish(ctx context.Context, secret []byte, query url.Values) (who console.Claimant, err error) {
	var v visit
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
	if err := p.checkToken(v, token); err != nil {
		return who, err
	}
	return p.claimant(token)
}

// checkReturn holds what the browser came back with to what it was sent with.
func (p *Provider) checkReturn(v visit, query url.Values) error {
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

// redeem exchanges the code for a token about the person, whose signature, issuer, audience and expiry are right.
func (p *Provider) redeem(ctx context.Context, d *oidc.Provider, v visit, code string) (*oidc.IDToken, error) {
	ctx = oidc.ClientContext(ctx, p.config.Client)
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
		return nil, &imagegen.Error{Code: imagegen.CodeInvalidRequest, Message: "the token of " + p.config.Name + " is not valid", Err: err}
	}
	if token.AccessTokenHash != "" && token.VerifyAccessToken(tokens.AccessToken) != nil {
		return nil, imagegen.Invalid("the token of %s is about another access token", p.config.Name)
	}
	return token, nil
}

// claims are what a token says beside what every token does.
type claims struct {
	AuthorizedParty   string `json:"azp"`
	AuthTime          int64  `json:"auth_time"`
	PreferredUsername string `json:"preferred_username"`
	Email             string `json:"email"`
	Name              string `json:"name"`
}

// checkToken holds a token to the visit that asked for it.
func (p *Provider) checkToken(v visit, token *oidc.IDToken) error {
	var c claims
	if err := token.Claims(&c); err != nil {
		return imagegen.Invalid("the token of %s cannot be read", p.config.Name)
	}
	switch {
	case !same(token.Nonce, v.Nonce):
		return imagegen.Invalid("the token of %s answers another request", p.config.Name)
	case token.Subject == "":
		return imagegen.Invalid("the token of %s is about nobody", p.config.Name)
	case c.AuthorizedParty != "" && c.AuthorizedParty != p.config.ClientID, c.AuthorizedParty == "" && len(token.Audience) > 1:
		return imagegen.Invalid("the token of %s was made for another service", p.config.Name)
	case !v.Again.IsZero() && time.Unix(c.AuthTime, 0).Before(v.Again.Add(-skew)):
		return imagegen.Invalid("%s did not ask anew who you are", p.config.Name)
	}
	return nil
}

// skew is how far the provider's clock may be behind.
const skew = time.Minute

// claimant is whom a token is about.
func (p *Provider) claimant(token *oidc.IDToken) (who console.Claimant, err error) {
	var c claims
	var all map[string]any
	if err := errors.Join(token.Claims(&c), token.Claims(&all)); err != nil {
		return who, imagegen.Invalid("the token of %s cannot be read", p.config.Name)
	}
	names := []string{c.PreferredUsername, c.Email, c.Name, token.Subject}
	who = console.Claimant{Subject: token.Subject, Name: names[slices.IndexFunc(names, func(n string) bool { return n != "" })]}
	if p.config.RoleClaim != "" {
		who.Role = account.RoleUser
		if slices.Contains(texts(find(all, p.config.RoleClaim)), p.config.OperatorValue) {
			who.Role = account.RoleOperator
		}
	}
	return who, nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
