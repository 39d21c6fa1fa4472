// Package frame is what all pages of the console have in common: who may open them, how they look and how they are
// served. A room, such as the playground, is a package with pages of its own; the frame knows none of them.
package frame

import (
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/console/internal/assets"
	"github.com/imagegend/imagegend/imagegen/console/internal/brand"
	"github.com/imagegend/imagegend/imagegen/console/internal/seal"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/internal/accesslog"
	"github.com/imagegend/imagegend/internal/httpguard"
)

// Config is what the pages of all rooms need. Fields that console.Config has are documented there.
type Config struct {
	Engine *engine.Engine
	Ledger imagegen.CreditAdmin
	Logins account.LoginStore

	OperatorsNeedPasskey bool
	Host                 *Host // nil: people sign in at the console

	Root           string // console.Config.Path
	BaseURL        string
	Secure         bool
	TrustedProxies []netip.Prefix

	Brand  brand.Brand // that passed Check
	System bool        // there is a page about the state of the service
	OpenAI bool        // of console.Config

	Admin    admin.Caller // of console.Config
	Webhooks bool         // the navigation leads to them

	Now func() time.Time
	Age func(time.Time) time.Duration // how long ago a time was by Now
	Log *slog.Logger
}

// Frame serves pages. It is safe for concurrent use.
type Frame struct {
	Config
	sealer     *seal.Sealer
	brandFiles assets.Set
	templates  map[string]*template.Template // by page: the name of its file without .html
	mux        *http.ServeMux
	guard      *http.CrossOriginProtection
	memory     memory
}

// Route is one page or action.
type Route struct {
	Pattern string // of http.ServeMux, with the path below Config.Root
	Access  Access
	Section string // the section of the navigation that the page belongs to; "": none
	Handler Handler
}

// Handler answers a request, or returns an error, which becomes the answer. It must not do both: an error after the
// answer has begun cuts the connection.
type Handler func(p *Page) error

// AnswerTime is how long a browser may take to fetch a page or a file. Answers that take longer extend it as they go.
const AnswerTime = 5 * time.Minute

// New returns a frame that serves the routes with the templates of the rooms.
func New(cfg Config, sealer *seal.Sealer, routes []Route, rooms ...Templates) (*Frame, error) {
	f := &Frame{Config: cfg, sealer: sealer, brandFiles: cfg.Brand.Files(), mux: http.NewServeMux(),
		memory: newMemory()}
	var err error
	if f.templates, err = f.parseTemplates(rooms); err != nil {
		return nil, err
	}
	// A refused form is answered as any other page, with a line in the log.
	f.guard = http.NewCrossOriginProtection()
	f.guard.SetDenyHandler(f.handlerOf(Route{Handler: func(*Page) error { return errCrossOrigin }}))
	for _, r := range routes {
		method, path, _ := strings.Cut(r.Pattern, " ")
		f.mux.Handle(method+" "+f.Root+strings.TrimPrefix(path, "/"), f.handlerOf(r))
	}
	// Files are the same for everybody, and browsers may cache them, so they are not pages.
	f.mux.HandleFunc("GET "+f.Root+"static/{version}/{file...}", f.serveFile(assets.Load, ""))
	f.mux.HandleFunc("GET "+f.Root+"brand/{version}/{file}",
		f.serveFile(func() (assets.Set, error) { return f.brandFiles, nil }, brandPolicy))
	return f, nil
}

// ServeHTTP answers a request; see console.Console.ServeHTTP.
func (f *Frame) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	httpguard.Begin(w, r)
	f.setHeaders(w.Header())
	control := http.NewResponseController(w)
	// Not every ResponseWriter has a deadline; net/http lifts it after the answer.
	control.SetWriteDeadline(time.Now().Add(AnswerTime))
	if r.Body != http.NoBody {
		// Also for routes that read no form: net/http reads the rest of a body before it answers.
		control.SetReadDeadline(time.Now().Add(formTime))
	}
	// From here on all handlers see x; handlerOf relies on its type.
	x := &loggingWriter{Writer: accesslog.Writer{ResponseWriter: w, Began: time.Now()}}
	defer f.logRequest(x, r) // also if the handler panics
	if r.URL.Path != f.Root && (r.URL.Path == "/" || r.URL.Path+"/" == f.Root) {
		http.Redirect(x, r, f.Root, http.StatusSeeOther)
		return
	}
	f.guard.Handler(f.mux).ServeHTTP(x, r)
}
