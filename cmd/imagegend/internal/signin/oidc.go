// Package signin makes of settings what signs people in to the console beside their passwords.
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

// maxSecret is far more bytes than any secret has.
const maxSecret = 4 << 10

// Provider is by which people sign in; nil: the settings name none. An error names the setting that is wrong. It
// asks nobody.
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

// without refuses what means nothing without an issuer: its name may be misspelt.
func without(s config.SignIn) error {
	s.RequirePasskey = ""
	if s != (config.SignIn{}) {
		return errors.New("the settings that begin with oidc mean nothing without --oidc-issuer; name the provider, or leave them out")
	}
	return nil
}

func secretOf(s config.SignIn) (imagegen.Secret, error) {
	if s.OIDCSecretFile == "" {
		return imagegen.Secret(s.OIDCSecret), nil
	}
	if s.OIDCSecret != "" {
		return "", errors.New("--oidc-secret and --oidc-secret-file are two ways of saying one thing; choose one")
	}
	text, err := private.ReadFile(s.OIDCSecretFile, maxSecret)
	if err != nil {
		return "", fmt.Errorf("the file of --oidc-secret-file does not do: %w", err)
	}
	line, _, _ := strings.Cut(text, "\n")
	return imagegen.Secret(strings.TrimSuffix(line, "\r")), nil
}
