package console

import (
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/limiter"
	"github.com/imagegend/imagegend/imagegen/console/internal/password"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Config makes a [Console]. Engine, Ledger and Logins are required; every other zero value means the
// default that its comment names.
type Config struct {
	Engine *engine.Engine       // with its Config.Thumbnails the gallery loads small copies, else whole images
	Ledger imagegen.CreditAdmin // the engine's
	Logins account.LoginStore   // where passwords and sign-ins are kept

	// Passkeys are asked for beside the password, of those who have one.
	// nil: nobody can make one, and who has one cannot sign in.
	Passkeys Passkeys
	// OperatorsNeedPasskey shows operators without a passkey nothing that is the operators'.
	OperatorsNeedPasskey bool

	// Provider has people prove elsewhere who they are. nil: they sign in with passwords alone.
	Provider IdentityProvider
	// Newcomers makes a user of everybody who signs in by Provider for the first time. Without it, they connect
	// the user that they have, on the page of their account.
	Newcomers bool

	// Operations tells operators how the service does. nil: there is no page for it.
	Operations Operations

	// History counts how upstreams answer, for the overview; it is an Observer of Engine too. nil: nobody counts.
	History *History

	// OpenAI says that OpenAI's shape of the API is served on this host, under /v1: the playground writes requests
	// for its clients too.
	OpenAI bool

	// Path is where the console is mounted: it begins and ends with a slash. "": /console/.
	Path string
	// BaseURL is where browsers reach this host, such as https://images.example.com: links begin with its
	// scheme and host. "": what the browser says.
	BaseURL string
	// Secure says that browsers reach the console by https only: its cookies are sent no other way, and
	// browsers are told to use no other for a year.
	Secure bool
	// Brand is the name, the logo and the colour that the pages show.
	Brand Brand
	// TrustedProxies are the peers whose X-Forwarded-For tells where a request comes from, for the
	// limit on failed sign-ins and for the audit trail. nil: nobody's does.
	TrustedProxies []netip.Prefix

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: silent. Neither passwords nor links are logged
}

// DefaultPath is where the console is mounted if Config.Path is empty.
const DefaultPath = "/console/"

// answerTime is how long a browser may take to fetch a page or a file.
const answerTime = 5 * time.Minute

// limiterSize is how many names and addresses the limit on failed sign-ins remembers.
const limiterSize = 10_000

// Console is the account area. It is safe for concurrent use and holds nothing that must be closed.
type Console struct {
	cfg            Config
	mux            *http.ServeMux
	guard          *http.CrossOriginProtection
	templates      map[string]*template.Template
	passwords      *password.Hasher
	attempts       *limiter.Limiter
	turns          *limiter.Turns
	swept          atomic.Int64 // when, in Unix seconds: see sweep
	changing       sync.Mutex   // held while a password is set that was checked against the present login
	authRequests   waiting[authRequest]
	ceremonies     waiting[ceremony]
	pendingActions waiting[pendingAction]
	auditing       auditing
	summaries      summaries
	unseen         unseenKeys
	brand          branding
}

var _ http.Handler = (*Console)(nil)

// New checks the configuration and returns the console. An error names everything that is wrong with
// the configuration at once.
func New(cfg Config) (*Console, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	c := &Console{cfg: cfg, passwords: password.NewHasher(), attempts: limiter.New(limiterSize), turns: limiter.NewTurns(), brand: newBranding(cfg.Brand)}
	var err error
	if c.templates, err = c.parseTemplates(); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c.guard = http.NewCrossOriginProtection()
	c.guard.SetDenyHandler(c.handler(route{}, (*Console).crossOrigin))
	c.mux = c.routes()
	return c, nil
}

// ServeHTTP answers a request below Config.Path. The path must stand in the request's URL whole, so that
// no [http.StripPrefix] belongs before it. It gives a browser five minutes to fetch a page or a file, and
// a form without files 30 seconds to arrive; other deadlines are the server's.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.secure(w.Header())
	if r.ProtoMajor == 1 && r.TransferEncoding != nil { // see httpapi: a length may have stood beside the chunks
		w.Header().Set("Connection", "close")
	}
	control := http.NewResponseController(w)
	control.SetWriteDeadline(time.Now().Add(answerTime)) // not every ResponseWriter has one; net/http lifts it behind the answer
	if r.Body != http.NoBody {                           // net/http reads what is left of a body before it answers
		control.SetReadDeadline(time.Now().Add(formTime))
	}
	x := &loggingWriter{ResponseWriter: w, began: time.Now()}
	defer c.logRequest(x, r)
	c.guard.Handler(c.mux).ServeHTTP(x, r)
}

func (cfg Config) withDefaults() Config {
	if cfg.Path == "" {
		cfg.Path = DefaultPath
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg
}

func (cfg Config) check() error {
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
	require(cfg.BaseURL == "" || origin(cfg.BaseURL) != "", "Config.BaseURL must be such as https://images.example.com; got %q", cfg.BaseURL)
	require(mountable(cfg.Path), "Config.Path must begin and end with a slash and be plain, such as /console/; got %q", cfg.Path)
	if err := cfg.Brand.Check(); err != nil {
		errs = append(errs, fmt.Errorf("console: Config.Brand.%w", err))
	}
	return errors.Join(errs...)
}

// mountable reports whether a path needs no escaping, neither in an address nor in a route.
func mountable(p string) bool {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/-_.~", r)
	}
	foreign := func(r rune) bool { return !plain(r) }
	return strings.HasPrefix(p, "/") && strings.HasSuffix(p, "/") && !strings.ContainsFunc(p, foreign) &&
		(p == "/" || path.Clean(p)+"/" == p)
}
