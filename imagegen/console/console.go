package console

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/console/internal/brand"
	"github.com/imagegend/imagegend/imagegen/console/internal/credits"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/gallery"
	"github.com/imagegend/imagegend/imagegen/console/internal/invite"
	"github.com/imagegend/imagegend/imagegen/console/internal/keys"
	"github.com/imagegend/imagegend/imagegen/console/internal/operator"
	"github.com/imagegend/imagegend/imagegen/console/internal/playground"
	"github.com/imagegend/imagegend/imagegen/console/internal/seal"
	"github.com/imagegend/imagegend/imagegen/console/internal/signin"
	"github.com/imagegend/imagegend/imagegen/console/internal/system"
	"github.com/imagegend/imagegend/imagegen/console/internal/team"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Money is the operator's, in which engine.Cost is counted.
type Money struct {
	Currency    string          // three letters, such as EUR; "": USD
	CreditValue imagegen.Micros // what one credit is worth; 0: it is not known
}

// Config configures a [Console]. Engine, Ledger and Logins are required; the zero value of any other field means
// the default that its comment names.
type Config struct {
	// Engine does the work. If its Config.Thumbnails is set, the gallery loads thumbnails, otherwise whole images.
	// If its Store is an account.TrailStore, the console writes the audit trail and shows it to operators.
	Engine *engine.Engine
	Ledger imagegen.CreditAdmin // that of the Engine
	Logins account.LoginStore   // keeps passwords and sign-ins

	// Passkeys makes and checks passkeys. Users who have one must use it in addition to their password.
	// nil: nobody can create a passkey, and users who have one cannot sign in.
	Passkeys Passkeys
	// OperatorsNeedPasskey hides the operators' pages from operators without a passkey. It requires Passkeys.
	OperatorsNeedPasskey bool

	// IdentityProvider lets people sign in at an identity provider. nil: they sign in with passwords and links only.
	IdentityProvider IdentityProvider
	// ProvisionUsers creates a user for everybody who signs in through IdentityProvider for the first time. Otherwise
	// people first connect an existing user with the provider, on their account page.
	ProvisionUsers bool

	// Host lets the program sign people in. nil: they sign in at the console. It excludes Passkeys,
	// OperatorsNeedPasskey and IdentityProvider.
	Host *Host

	// Operations reports the state of the service to operators. nil: there is no page for it.
	Operations Operations

	// Admin carries out the calls of package admin about webhooks, for the page of their deliveries. nil: there is no
	// such page.
	Admin admin.Caller
	// Webhooks says that there are webhooks, so that the navigation leads to their page.
	Webhooks bool

	// History counts how upstreams answer, for the overview. It must also be an Observer of Engine. nil: the
	// overview does not show upstreams.
	History *History

	// Money says what credits are worth, for the overview. Zero: it shows what images cost, if that is known, in USD,
	// and not what they brought in.
	Money Money

	// OpenAI says that the OpenAI-compatible API is served on this host, under /v1. The playground then also shows
	// requests for OpenAI's SDKs.
	OpenAI bool

	// Path is where the console is mounted. It begins and ends with a slash. "": DefaultPath.
	Path string
	// BaseURL is where browsers reach this host, such as https://images.example.com. Links begin with its scheme
	// and host. "": those of each request.
	BaseURL string
	// Secure says that browsers reach the console over https only. Cookies are then marked Secure, and browsers are
	// made to use only https for a year.
	Secure bool
	// Brand is the name, the logo and the colour that the pages show.
	Brand Brand
	// TrustedProxies are the peers whose X-Forwarded-For the console trusts, for the limits on sign-ins and for the
	// audit trail. nil: it uses the address of the peer.
	TrustedProxies []netip.Prefix

	// Now returns the time by which sign-ins, links and confirmations expire. Deadlines of connections use the
	// system's clock. nil: Engine.Now, so that a leap of the clock ends no sign-in.
	Now func() time.Time
	age func(time.Time) time.Duration // how long ago a time was by Now
	// Log gets a line for each request, and the errors for which users only see a general message. Neither passwords
	// nor links are logged. nil: silent.
	Log *slog.Logger
}

// DefaultPath is where the console is mounted if Config.Path is empty.
const DefaultPath = "/console/"

// Console is the account area. It is safe for concurrent use and need not be closed.
type Console struct {
	frame  *frame.Frame
	signIn *signin.Pages
	system *system.Pages
}

var _ http.Handler = (*Console)(nil)

// New checks the configuration and returns the console. An error names everything that is wrong with
// the configuration at once.
func New(cfg Config) (*Console, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	sealer := seal.New(cfg.Logins)
	c := &Console{system: &system.Pages{Money: system.Money(cfg.Money)}}
	c.system.Money.Currency = cmp.Or(cfg.Money.Currency, "USD")
	if cfg.Operations != nil {
		c.system.Operations = operations{cfg.Operations}
	}
	if cfg.History != nil {
		c.system.History = cfg.History.counts
	}
	pages := signin.Config{Passkeys: cfg.Passkeys, ProvisionUsers: cfg.ProvisionUsers}
	if cfg.IdentityProvider != nil {
		pages.IdentityProvider = provider{cfg.IdentityProvider}
	}
	c.signIn = signin.New(pages, cfg.Logins, sealer)
	var host *frame.Host
	routes := c.routes()
	if cfg.Host != nil {
		host, routes = (*frame.Host)(cfg.Host), withoutSignIn(routes)
	}
	var err error
	c.frame, err = frame.New(frame.Config{
		Host:   host,
		Engine: cfg.Engine, Ledger: cfg.Ledger, Logins: cfg.Logins, OperatorsNeedPasskey: cfg.OperatorsNeedPasskey,
		Root: cfg.Path, BaseURL: cfg.BaseURL, Secure: cfg.Secure, TrustedProxies: cfg.TrustedProxies,
		Brand: brand.Brand(cfg.Brand), System: cfg.Operations != nil, OpenAI: cfg.OpenAI,
		Admin: cfg.Admin, Webhooks: cfg.Admin != nil && cfg.Webhooks,
		Now: cfg.Now, Age: cfg.age, Log: cfg.Log,
	}, sealer, routes, c.signIn.Templates(), operator.Templates, invite.Templates, system.Templates,
		gallery.Templates, playground.Templates, credits.Templates, keys.Templates, team.Templates)
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	return c, nil
}

// ServeHTTP answers a request below Config.Path, and redirects one for the root or for Config.Path without its last
// slash to the console. It expects the whole path in the request's URL, so do not wrap it in
// [http.StripPrefix]. A browser has five minutes to fetch a page or a file, and 30 seconds to send a form without
// files. The server sets all other deadlines.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.frame.ServeHTTP(w, r) }

// withDefaults fills in what has a default; Brand and BaseURL have theirs where they are used.
func (cfg Config) withDefaults() Config {
	cfg.Path = cmp.Or(cfg.Path, DefaultPath)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.age = cfg.Engine.Age; cfg.Now == nil {
		cfg.Now = cfg.Engine.Now
	} else {
		// The clock may have been set back.
		cfg.age = func(at time.Time) time.Duration { return cfg.Now().Sub(at).Abs() }
	}
	return cfg
}

// validate says everything that is wrong, one line for each field.
func (cfg Config) validate() error {
	var errs []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("console: "+format, args...))
		}
	}
	require(cfg.Engine != nil, "Config.Engine is required")
	require(cfg.Ledger != nil, "Config.Ledger is required")
	require(cfg.Logins != nil, "Config.Logins is required")
	require(cfg.Passkeys != nil || !cfg.OperatorsNeedPasskey, "Config.OperatorsNeedPasskey needs Config.Passkeys")
	require(cfg.Host == nil || cfg.Host.Authenticate != nil && cfg.Host.SignIn != "",
		"Config.Host needs Authenticate and SignIn")
	require(cfg.Host == nil || cfg.Passkeys == nil && !cfg.OperatorsNeedPasskey && cfg.IdentityProvider == nil,
		"Config.Host excludes Passkeys, OperatorsNeedPasskey and IdentityProvider")
	require(cfg.BaseURL == "" || frame.OriginOf(cfg.BaseURL) != "",
		"Config.BaseURL must be such as https://images.example.com; got %q", cfg.BaseURL)
	require(mountable(cfg.Path),
		"Config.Path must begin and end with a slash and be plain, such as /console/; got %q", cfg.Path)
	if err := cfg.Brand.Check(); err != nil {
		errs = append(errs, fmt.Errorf("console: Config.Brand.%w", err))
	}
	return errors.Join(errs...)
}

// mountable reports whether a path can be mounted: it is clean, and needs no escaping either in an address or in a
// pattern of http.ServeMux, where braces would begin a wildcard.
func mountable(p string) bool {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/-_.~", r)
	}
	foreign := func(r rune) bool { return !plain(r) }
	return strings.HasPrefix(p, "/") && strings.HasSuffix(p, "/") && !strings.ContainsFunc(p, foreign) &&
		(p == "/" || path.Clean(p)+"/" == p)
}
