package doctor

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/signin"
)

// issuerTime is how long the provider has for an answer.
const issuerTime = 10 * time.Second

// SignIn tells what serve would refuse of how people sign in.
func SignIn(s config.Server) []Finding {
	_, provider := signin.Provider(s.SignIn)
	_, passkeys := signin.Passkeys(s)
	err := errors.Join(provider, passkeys)
	if err == nil {
		return nil
	}
	f := ok("sign-in", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	return []Finding{f.fails("put the settings right; serve refuses them")}
}

// Issuer asks the provider by which people sign in, where one is named, for its addresses.
func Issuer(ctx context.Context, s config.Server) []Finding {
	provider, err := signin.Provider(s.SignIn)
	if provider == nil || err != nil { // see SignIn
		return nil
	}
	f := ok("oidc issuer", "%s tells of itself", s.OIDCIssuer)
	ctx, cancel := context.WithTimeout(ctx, issuerTime)
	defer cancel()
	if err := provider.Discover(ctx); err != nil {
		f.Detail = strings.TrimPrefix(err.Error(), "oidc: ")
		return []Finding{f.but("see that the address is what the provider calls itself, and that this machine reaches it; until then nobody signs in by it")}
	}
	if s.BaseURL == "" {
		f.Detail += ", and this service has no public address"
		return []Finding{f.but("name it with --base-url: the provider sends browsers back to it")}
	}
	return []Finding{f}
}
