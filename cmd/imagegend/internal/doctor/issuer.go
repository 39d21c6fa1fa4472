package doctor

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/signin"
)

// issuerTime bounds how long the provider may take to answer.
const issuerTime = 10 * time.Second

// SignIn reports what serve would refuse in the settings for sign-in; nil if it would accept them.
func SignIn(s config.Server) []Finding {
	// Both are checked, so that one run shows all that is wrong.
	_, provider := signin.Provider(s.SignIn)
	_, passkeys := signin.Passkeys(s)
	err := errors.Join(provider, passkeys)
	if err == nil {
		return nil
	}
	f := ok("sign-in", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	return []Finding{f.fails("put the settings right; serve refuses them")}
}

// Issuer asks the provider by which people sign in for its addresses; nil if none is configured. A provider that is
// away is a warning: serve runs without it, and passwords go on working.
func Issuer(ctx context.Context, s config.Server) []Finding {
	provider, err := signin.Provider(s.SignIn)
	if provider == nil || err != nil { // SignIn reports the error
		return nil
	}
	f := ok("oidc issuer", "%s publishes its addresses", s.OIDCIssuer)
	ctx, cancel := context.WithTimeout(ctx, issuerTime)
	defer cancel()
	if err := provider.Discover(ctx); err != nil {
		return []Finding{f.says("%s", strings.TrimPrefix(err.Error(), "oidc: ")).
			but("make sure that the address is the one the provider gives for itself, and that this machine reaches it; until then nobody signs in by it")}
	}
	// The provider answers, but the service could not tell it where to send a browser back to.
	if s.BaseURL == "" {
		f.Detail += ", and this service has no public address"
		return []Finding{f.but("name it with --base-url: the provider sends browsers back to it")}
	}
	return []Finding{f}
}
