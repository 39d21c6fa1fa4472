package signin

import (
	"errors"
	"fmt"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen/console/passkey"
)

// Passkeys returns the passkeys for the public address. Without an address at which browsers can have passkeys it
// returns nil, or an error if the settings require passkeys.
func Passkeys(s config.Server) (*passkey.Passkeys, error) {
	demanded := s.RequirePasskey == config.PasskeyOfOperators
	if s.BaseURL == "" {
		if demanded {
			return nil, errors.New("--require-passkey needs --base-url: a passkey works at one address only")
		}
		return nil, nil
	}
	// A passkey belongs to a host, so the path of the address does not matter.
	p, err := passkey.New(passkey.Config{Origin: config.Root(s.BaseURL), Name: s.BrandName})
	switch {
	case err != nil && demanded:
		return nil, fmt.Errorf("--require-passkey cannot be used with --base-url %s: %w", s.BaseURL, err)
	case err != nil:
		return nil, nil // browsers have no passkeys at such an address
	}
	return p, nil
}
