package console

import (
	"context"
	"net/url"

	"github.com/imagegend/imagegend/imagegen/account"
)

// IdentityProvider authenticates people on pages of its own. Package imagegen/console/oidc is an implementation. It
// must be safe for concurrent use. It keeps nothing: while a browser is at the provider, the console keeps the
// secret, which never reaches the browser.
type IdentityProvider interface {
	// Issuer identifies the provider. It is stored with each identity, so it must never change.
	Issuer() string
	// Name is the name by which people know the provider.
	Name() string
	// Begin returns the address to send the browser to, and a secret for Finish. The provider sends the browser back to
	// callback. With again, it must authenticate even somebody who is signed in there.
	Begin(ctx context.Context, callback string, again bool) (address string, secret []byte, err error)
	// Finish returns who has come back. query is that of the address they came back to, and untrusted. The console
	// calls it at most once for each secret. ErrInvalidRequest: the identity is not proved; the message, which is
	// shown, says why.
	Finish(ctx context.Context, secret []byte, query url.Values) (Claimant, error)
}

// Claimant is a person as an identity provider describes them.
type Claimant struct {
	Subject string       // identifies the person at the issuer; it never changes, and no other person gets it
	Name    string       // for the user that may be created; it identifies nobody
	Role    account.Role // "": the provider does not say, and the user's role stays
}
