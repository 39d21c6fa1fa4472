package account

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Identity connects a user with an account at an identity provider, by OpenID Connect.
type Identity struct {
	Issuer    string // the provider
	Subject   string // who it is there: it never changes, as names and addresses do
	User      imagegen.UserID
	CreatedAt time.Time
}
