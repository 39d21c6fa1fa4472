package console

import (
	"context"
	"net/url"
	"time"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/signin"
)

// IdentityProvider authenticates people on pages of its own. Package imagegen/console/oidc is an implementation. It
// must be safe for concurrent use. It need not keep any state: the console has a browser that is at the provider
// carry the secret, sealed so that it cannot read it.
type IdentityProvider interface {
	// Issuer identifies the provider. It is stored with each identity, so it must never change.
	Issuer() string
	// Name is the name by which people know the provider.
	Name() string
	// Begin returns the address to send the browser to, and a secret for Finish. The provider sends the browser back to
	// callback. If again is set, it must authenticate the person even if they are signed in there already.
	Begin(ctx context.Context, callback string, again bool) (address string, secret []byte, err error)
	// Finish returns the person who was authenticated. query is that of the address to which the browser came back; it
	// is untrusted. The console accepts one identity for each secret. ErrInvalidRequest: the identity is not
	// proved; the console shows the message, which says why.
	Finish(ctx context.Context, secret []byte, query url.Values) (ExternalIdentity, error)
}

// ExternalIdentity is a person as an identity provider describes them.
type ExternalIdentity struct {
	Subject string       // identifies the person at the issuer: it never changes, and no other person ever has it
	Name    string       // a name for a user that may be created; it does not identify the person
	Role    account.Role // "": the provider does not decide, and the user's role stays
	// AuthenticatedAt is when the provider last had the person prove who they are, which may be long before it sent
	// them here. For five minutes from then on the console asks for no confirmation. Zero: the provider does not say,
	// and it counts as now, since its people may have no other way to confirm.
	AuthenticatedAt time.Time
}

// provider shows the pages an IdentityProvider.
type provider struct{ IdentityProvider }

func (p provider) Finish(ctx context.Context, secret []byte, query url.Values) (signin.Identity, error) {
	i, err := p.IdentityProvider.Finish(ctx, secret, query)
	return signin.Identity(i), err
}
