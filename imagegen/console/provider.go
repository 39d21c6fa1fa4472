package console

import (
	"context"
	"net/url"

	"github.com/imagegend/imagegend/imagegen/account"
)

// IdentityProvider knows who people are, and has them prove it on pages of its own. Package
// imagegen/console/oidc is one. It is safe for concurrent use.
type IdentityProvider interface {
	// Issuer identifies the provider.
	Issuer() string
	// Name is what people know it by.
	Name() string
	// Begin returns where a browser goes to, and a secret that Finish needs when it has come back to callback. With
	// again, people prove anew who they are, also those who did so a moment ago.
	Begin(ctx context.Context, callback string, again bool) (address string, secret []byte, err error)
	// Finish says who somebody is who came back, by the query of the address to which they did. The console
	// calls it once for each secret. ErrInvalidRequest: it is not proved, and why.
	Finish(ctx context.Context, secret []byte, query url.Values) (Claimant, error)
}

// Claimant is who somebody is, as a provider has it.
type Claimant struct {
	Subject string       // never changes, and is nobody else's
	Name    string       // of the user that is made of them; anybody may have it
	Role    account.Role // "": the provider does not say
}
