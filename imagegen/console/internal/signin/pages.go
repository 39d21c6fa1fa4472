// Package signin has the pages on which people sign in, prove who they are and look after how they sign in: by
// password, link, passkey or identity provider.
package signin

import (
	"context"
	"embed"
	"html/template"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/limiter"
	"github.com/imagegend/imagegend/imagegen/console/internal/password"
	"github.com/imagegend/imagegend/imagegen/console/internal/seal"
)

// Passkeys is console.Passkeys.
type Passkeys interface {
	BeginRegistration(u imagegen.User, have []account.Passkey) (options, secret []byte, err error)
	FinishRegistration(u imagegen.User, secret, answer []byte) (account.Passkey, error)
	BeginAuthentication(u imagegen.User, have []account.Passkey, verify bool) (options, secret []byte, err error)
	FinishAuthentication(u imagegen.User, have []account.Passkey, secret, answer []byte) (id account.PasskeyID,
		uses uint32, verified bool, err error)
}

// IdentityProvider is console.IdentityProvider.
type IdentityProvider interface {
	Issuer() string
	Name() string
	Begin(ctx context.Context, callback string, again bool) (address string, secret []byte, err error)
	Finish(ctx context.Context, secret []byte, query url.Values) (Identity, error)
}

// Identity is console.ExternalIdentity.
type Identity struct {
	Subject string
	Name    string
	Role    account.Role

	AuthenticatedAt time.Time
}

// Config is what these pages need in addition to the frame's Config. console.Config documents the fields.
type Config struct {
	Passkeys         Passkeys
	IdentityProvider IdentityProvider
	ProvisionUsers   bool
}

// Pages are the pages of this room. They are safe for concurrent use.
type Pages struct {
	Config
	Passwords *password.Hasher
	attempts  *limiter.Limiter // counts sign-ins by name and address, in the store
	turns     *limiter.Turns   // lets one password at a time be hashed for a name or an address

	// swept is when ended sign-ins were last removed, in Unix seconds: see removeEndedSignIns.
	swept atomic.Int64
	// changing is held while a login or an identity is read and then changed. Without it, of two changes that read
	// the same login, the later one would undo the other. It orders the changes of this process only.
	changing sync.Mutex
}

// New returns the pages. logins and sealer are those of the frame.
func New(cfg Config, logins account.LoginStore, sealer *seal.Sealer) *Pages {
	return &Pages{Config: cfg, Passwords: password.NewHasher(), attempts: limiter.New(logins.Mark, sealer.Hash),
		turns: limiter.NewTurns()}
}

//go:embed templates
var sources embed.FS

// Templates are those of the pages.
func (s *Pages) Templates() frame.Templates {
	return frame.Templates{Files: sources, Functions: template.FuncMap{
		"provider":        s.providerName,
		"browser":         browserName,
		"minPassword":     func() int { return minPassword },
		"maxPassword":     func() int { return maxPassword },
		"idleTimeout":     func() time.Duration { return frame.IdleTimeout },
		"absoluteTimeout": func() time.Duration { return frame.AbsoluteTimeout },
		"confirmedFor":    func() time.Duration { return confirmedFor },
	}}
}

// providerName is the name of the identity provider; "": there is none.
func (s *Pages) providerName() string {
	if s.IdentityProvider == nil {
		return ""
	}
	return s.IdentityProvider.Name()
}
