package signin

import (
	"errors"
	"fmt"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen/console/passkey"
)

// Passkeys are those of browsers at the public address; nil: they have none there, and none are demanded.
func Passkeys(s config.Server) (*passkey.Passkeys, error) {
	demanded := s.RequirePasskey == config.PasskeyOfOperators
	if s.BaseURL == "" {
		if demanded {
			return nil, errors.New("--require-passkey needs --base-url: a passkey is of use at one address")
		}
		return nil, nil
	}
	p, err := passkey.New(passkey.Config{Origin: config.Root(s.BaseURL), Name: s.BrandName})
	switch {
	case err != nil && demanded:
		return nil, fmt.Errorf("--require-passkey does not go with --base-url %s: %w", s.BaseURL, err)
	case err != nil:
		return nil, nil // there browsers have none
	}
	return p, nil
}
