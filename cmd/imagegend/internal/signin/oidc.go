// Package signin sets up, from the settings, how people sign in to the console other than with a password: by an
// OpenID Connect provider and with passkeys. serve and doctor share it, so that doctor finds exactly what serve would
// refuse.
package signin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/oidc"
)

// Provider returns the provider by which people sign in; nil if the settings name none. An error names the setting
// that is wrong. It sends nothing: a provider that is away must not keep the service from starting.
func Provider(s config.SignIn) (*oidc.Provider, error) {
	if s.OIDCIssuer == "" {
		return nil, without(s)
	}
	if (s.OIDCRoleClaim == "") != (s.OIDCOperators == "") {
		return nil, errors.New("--oidc-role-claim and --oidc-operators belong together; give both, or neither")
	}
	if s.OIDCClientID == "" {
		return nil, errors.New("--oidc-issuer needs --oidc-client-id, as the provider calls this service")
	}
	secret, err := secretOf(s)
	if err != nil {
		return nil, err
	}
	return oidc.New(oidc.Config{Issuer: s.OIDCIssuer, ClientID: s.OIDCClientID, Secret: secret, Name: s.OIDCName,
		RoleClaim: s.OIDCRoleClaim, OperatorValue: s.OIDCOperators})
}

// without refuses settings that mean nothing without an issuer: the setting of the issuer may be misspelt.
// RequirePasskey is the one setting of the struct that needs none.
func without(s config.SignIn) error {
	s.RequirePasskey = ""
	if s != (config.SignIn{}) {
		return errors.New("the settings that begin with oidc mean nothing without --oidc-issuer; name the provider, or leave them out")
	}
	return nil
}

// secretOf returns the client secret, which is the first line of its file; "" is for a public client.
func secretOf(s config.SignIn) (imagegen.Secret, error) {
	if s.OIDCSecretFile == "" {
		return imagegen.Secret(s.OIDCSecret), nil
	}
	if s.OIDCSecret != "" {
		return "", errors.New("--oidc-secret and --oidc-secret-file both give the secret; choose one")
	}
	line, err := private.ReadLine(s.OIDCSecretFile)
	if err != nil {
		return "", fmt.Errorf("the file of --oidc-secret-file cannot be used: %w", err)
	}
	// Without a secret the provider would refuse each sign-in, and nobody here would know why.
	if strings.TrimSpace(line) == "" {
		return "", errors.New("the first line of the file of --oidc-secret-file is empty; write the secret there, or leave the setting out for a public client")
	}
	return imagegen.Secret(line), nil
}
