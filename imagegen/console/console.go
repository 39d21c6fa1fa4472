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

	// Provider lets people sign in at an identity provider. nil: they sign in with passwords and links only.
	Provider IdentityProvider
	// Newcomers creates a user for everybody who signs in through Provider for the first time. Otherwise people
	// first connect an existing user with the provider, on their account page.
	Newcomers bool

	// Operations reports the state of the service to operators. nil: there is no page for it.
	Operations Operations

	// History counts how upstreams answer, for the overview. It must also be an Observer of Engine. nil: the
	// overview does not show upstreams.
	History *History

	// OpenAI says that the OpenAI-compatible API is served on this host, under /v1. The playground then also shows
	// requests for OpenAI's SDKs.
	OpenAI bool

	// Path is where the console is mounted. It begins and ends with a slash. "": DefaultPath.
	Path string
	// BaseURL is where browsers reach this host, such as https://images.example.com. Links begin with its scheme
	// and host. "": those of each request.
	BaseURL string
	// Secure says that browsers reach the console over https only. Cookies are then marked Secure, and browsers are
	// told to use only https for a year.
	Secure bool
	// Brand is the name, the logo and the colour that the pages show.
	Brand Brand
	// TrustedProxies are the peers whose X-Forwarded-For the console trusts, for the limits on sign-ins and for the
	// audit trail. nil: it uses the address of the peer.
	TrustedProxies []netip.Prefix

	// Now returns the time by which sign-ins, links and confirmations expire. Deadlines of connections use the
	// system's clock. nil: time.Now.
	Now func() time.Time
	// Log gets a line for each request, and the errors for which users only see a general message. Neither passwords
	// nor links are logged. nil: silent.
	Log *slog.Logger
}

// DefaultPath is where the console is mounted if Config.Path is empty.
const DefaultPath = "/console/"

// answerTime is how long a browser may take to fetch a page or a file. Answers that take longer extend it as they go.
const answerTime = 5 * time.Minute

// limiterSize is how many names, and how many addresses, the limits on sign-ins remember.
const limiterSize = 10_000

// Console is the account area. It is safe for concurrent use and need not be closed.
type Console struct {
	// These are set by New and never change. Each is safe for concurrent use.
	cfg       Config
	mux       *http.ServeMux
	guard     *http.CrossOriginProtection
	templates map[string]*template.Template // by page: the name of its file without .html
	passwords *password.Hasher
	attempts  *limiter.Limiter // counts sign-ins by name and address
	turns     *limiter.Turns   // lets one password at a time be hashed for a name or an address
	brand     branding

	// swept is when ended sign-ins were last removed, in Unix seconds: see sweep.
	swept atomic.Int64
	// changing is held while a login or an identity is read and then changed. Without it, of two changes that read
	// the same login, the later one would undo the other. It orders the changes of this process only.
	changing sync.Mutex

	// What a browser is about to come back for, by a token that only it has.
	authRequests   waiting[authRequest]
	ceremonies     waiting[ceremony]
	pendingActions waiting[pendingAction]

	auditing  auditing
	summaries summaries
	unseen    unseenKeys
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
	// A refused form is answered as any other page, with a line in the log.
	c.guard = http.NewCrossOriginProtection()
	c.guard.SetDenyHandler(c.handler(route{}, (*Console).crossOrigin))
	c.mux = c.routes()
	return c, nil
}

// ServeHTTP answers a request below Config.Path. It expects the whole path in the request's URL, so do not wrap it in
// [http.StripPrefix]. A browser has five minutes to fetch a page or a file, and 30 seconds to send a form without
// files. The server sets all other deadlines.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.secure(w.Header())
	if r.ProtoMajor == 1 && r.TransferEncoding != nil {
		// A Content-Length may have stood beside the chunks, which net/http does not tell. If a proxy went by the
		// length, the rest of this connection is not what it took for a request.
		w.Header().Set("Connection", "close")
	}
	control := http.NewResponseController(w)
	control.SetWriteDeadline(time.Now().Add(answerTime)) // not every ResponseWriter has one; net/http lifts it after the answer
	if r.Body != http.NoBody {
		// Also for routes that read no form: net/http reads the rest of a body before it answers.
		control.SetReadDeadline(time.Now().Add(formTime))
	}
	// From here on all handlers see x; Console.handler relies on its type.
	x := &loggingWriter{ResponseWriter: w, began: time.Now()}
	defer c.logRequest(x, r) // also if the handler panics
	c.guard.Handler(c.mux).ServeHTTP(x, r)
}

// withDefaults fills in what has a default; Brand and BaseURL have theirs where they are used.
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

// check says everything that is wrong, one line for each field.
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
