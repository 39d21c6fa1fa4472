package account

import (
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
