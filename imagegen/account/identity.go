package account

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Identity connects a user with an account at an identity provider, by OpenID Connect.
type Identity struct {
	Issuer    string // the provider
	Subject   string // the identifier there, which never changes, as names and addresses may
	User      imagegen.UserID
	CreatedAt time.Time
}
