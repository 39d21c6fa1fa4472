package account

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Identity connects a user with an account at an identity provider, by OpenID Connect.
type Identity struct {
	Issuer    string // the identity provider
	Subject   string // the identifier of the account at the issuer; unlike a name or an address, it never changes
	User      imagegen.UserID
	CreatedAt time.Time
}
