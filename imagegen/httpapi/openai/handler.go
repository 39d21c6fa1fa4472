// Package openai serves an interface that is compatible with OpenAI's image API, for clients that
// are built for that:
//
//	http.Handle("/v1/", openai.NewHandler(engine.Authenticate, openai.Options{Log: log}))
//
// It needs an [imagegen.Service] with a few more methods, see Session; *engine.Session is one.
// docs/clients/README.md has the settings of clients, and docs/api.md says which fields are
// accepted, honoured and refused.
//
// The handler sets the deadlines of each connection itself, like that of package httpapi. The
// server should have neither a ReadTimeout nor a WriteTimeout, since either would interrupt
// generations.
//
// A request is read field by field (read.go, fields.go), with its images staged while they arrive
// (image.go), and becomes an [imagegen.GenerateRequest] (generate.go). The answer is one JSON object
// (answer.go) or a stream of events (stream.go). In both, images go from the store to the caller
// in small pieces: no image is held in memory as a whole. A field that cannot be honoured is
// refused with an error that names it, and never ignored.
package openai

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

// Prefix is the path at which the handler must be mounted: all its paths begin with it.
const Prefix = "/v1/"

// Session is what the handler needs for one user. It must be safe for concurrent use.
// *engine.Session implements it.
type Session interface {
	imagegen.Service

	// User returns the user whose service this is, and KeyID the API key, for the log and for
	// the limits of the key.
	User() imagegen.UserID
	KeyID() imagegen.KeyID

	// Payer returns whose share of memory the requests take.
	Payer() imagegen.UserID

	// Offers lists the models that a request can name, with their aliases, and no prices.
	Offers(ctx context.Context) ([]imagegen.ModelInfo, error)

	// StageReference stores a reference image while it arrives, for one Generate, and bounds what one
	// user can send at once. name identifies the image in messages. If r fails, its error is
	// returned.
	StageReference(ctx context.Context, r io.Reader, name string) (imagegen.Reference, error)

	// ReportDelivery tells the service whether the answer to a Generate reached its caller
	// completely. If not, an equal call can get it.
	ReportDelivery(id imagegen.GenerationID, received bool)
}

// Options configure NewHandler. The zero value works.
type Options struct {
	// BaseURL is where callers reach the service, such as https://images.example.com: the addresses of
	// images begin with it. "": the Host of each request.
	BaseURL string

	// TrustedProxies are the peers whose X-Forwarded headers the handler trusts, as in package httpapi.
	// nil: it trusts no peer.
	TrustedProxies []netip.Prefix

	// CORSOrigins are the origins whose scripts may call the service; "*" means any. nil: none.
	CORSOrigins []string

	// Limits is a *httpapi.Limits, see httpapi.NewLimits. Handlers with the same Limits count the
	// requests of a key together. nil: limits of its own.
	Limits *serving.Limits

	// PersonHeaders are the headers that name the person who asks, as in package httpapi.
	PersonHeaders []string

	// Authenticate says whom the program has signed in, as in package httpapi. authenticate, of NewHandler, then gets
	// an empty key and a context with the caller.
	Authenticate func(*http.Request) (account.Caller, error)

	// Log gets a line for each request. Neither keys nor prompts are logged. nil: silent.
	Log *slog.Logger
}

// NewHandler returns a handler for everything below Prefix. authenticate returns the
// service of the user to whom an API key belongs; its errors are those of
// engine.Engine.Authenticate. The handler is safe for concurrent use and need not be
// closed.
func NewHandler[S Session](authenticate func(ctx context.Context, rawKey string) (S, error), o Options) http.Handler {
	return &api{
		authenticate: func(ctx context.Context, rawKey string) (Session, error) { return authenticate(ctx, rawKey) },
		site: serving.NewSite(serving.Site{BaseURL: o.BaseURL, TrustedProxies: o.TrustedProxies,
			CORSOrigins: o.CORSOrigins, Limits: o.Limits, PersonHeaders: o.PersonHeaders,
			Authenticate: o.Authenticate}, o.Log),
	}
}

// api is the handler.
type api struct {
	authenticate func(ctx context.Context, rawKey string) (Session, error)
	site         *serving.Site
}

// exchange is one request and its answer on the way through the handlers.
type exchange struct {
	serving.Exchange
	session Session
	id      string // of the model that the path names
}

// ServeHTTP implements http.Handler.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{}
	a.site.Begin(&x.Exchange, w, r)
	defer a.site.Finish(&x.Exchange, func() { x.fail(imagegen.ErrInternal) })
	if err := a.route(x); err != nil && x.Status == 0 {
		x.fail(err)
	} else if err != nil {
		x.Err = err // for the log: the caller got it in an event
	}
}

// handle answers a request, or returns the error that is the answer. An error after the answer has
// begun only goes to the log.
type handle func(x *exchange) error

const (
	pathGenerate = Prefix + "images/generations"
	pathEdit     = Prefix + "images/edits"
	pathModels   = Prefix + "models"
)

// errNoPath names what there is: clients with a base address that ends twice with /v1, or that try chats first, show
// it.
var errNoPath = &imagegen.Error{Code: imagegen.CodeNotFound,
	Message: "there is nothing at this address; here are " + pathGenerate + ", " + pathEdit + " and " + pathModels}

// route finds the handler of a path. As in package httpapi no path is cleaned, and no request is
// redirected.
func (a *api) route(x *exchange) error {
	method, answer := "", handle(nil)
	switch path := x.Request.URL.Path; {
	case serving.HidesSlash(x.Request) && !strings.HasPrefix(path, pathModels+"/"): // the name of a model may have one
		return imagegen.ErrNotFound
	case path == pathGenerate:
		x.Route, method, answer = pathGenerate, http.MethodPost, a.generate
	case path == pathEdit:
		x.Route, method, answer = pathEdit, http.MethodPost, a.edit
	case path == pathModels:
		x.Route, method, answer = pathModels, http.MethodGet, a.models
	case strings.HasPrefix(path, pathModels+"/") && len(path) > len(pathModels)+1:
		x.Route, method, answer = pathModels+"/:id", http.MethodGet, a.model
		x.id = path[len(pathModels)+1:]
	default:
		return errNoPath
	}
	return a.answerCall(x, method, answer)
}

// answerCall checks the method and the key, and then calls the handler. OPTIONS needs no key: browsers send
// none with a preflight.
func (a *api) answerCall(x *exchange, method string, answer handle) error {
	allowed := []string{method}
	if method == http.MethodGet {
		allowed = append(allowed, http.MethodHead)
	}
	if asked := x.Request.Method; !slices.Contains(allowed, asked) {
		takes := strings.Join(allowed, ", ")
		x.Header().Set("Allow", takes+", "+http.MethodOptions)
		if asked == http.MethodOptions {
			return a.site.Preflight(&x.Exchange)
		}
		return &imagegen.Error{Code: serving.CodeMethodNotAllowed, Message: "this address takes " + takes + " only"}
	}
	session, leave, err := serving.Admit(&x.Exchange, a.site, a.authenticate)
	if err != nil {
		return err
	}
	defer leave()
	x.session = session
	return answer(x)
}
