package account

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Identity says that a user is somebody whom a provider of identities knows, by OpenID Connect.
type Identity struct {
	Issuer    string // the provider
	Subject   string // who it is there: it never changes, as names and addresses do
	User      imagegen.UserID
	CreatedAt time.Time
}

// IdentityStore keeps identities for the console. It is optional. The contract of [imagegen.Store] on concurrency,
// durability and contexts holds here too.
type IdentityStore interface {
	// CreateIdentity adds an identity. A repetition is success. ErrExists: it is another user's, or the user is
	// somebody else of the same issuer.
	CreateIdentity(ctx context.Context, i Identity) error
	// Identity returns an identity. ErrNotFound.
	Identity(ctx context.Context, issuer, subject string) (Identity, error)
	// UserIdentity returns who a user is of an issuer. ErrNotFound.
	UserIdentity(ctx context.Context, u imagegen.UserID, issuer string) (Identity, error)
	// RemoveIdentity removes who a user is of an issuer. That there is none is success.
	RemoveIdentity(ctx context.Context, u imagegen.UserID, issuer string) error
}
