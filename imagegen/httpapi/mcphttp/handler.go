// Package mcphttp serves the tools of package mcpserver over HTTP, to agents with an API key:
//
//	http.Handle(mcphttp.Path, mcphttp.NewHandler(engine, mcphttp.Options{Log: log}))
//
// It implements the streamable HTTP transport of the Model Context Protocol, without sessions: each
// request is complete in itself, so any node can answer it.
package mcphttp

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
	"github.com/imagegend/imagegend/imagegen/mcpserver"
	"github.com/imagegend/imagegend/internal/jsonscan"
)

// Path is the path at which the handler must be mounted.
const Path = "/mcp"

// largestBody bounds a request: the longest prompt there is, escaped, fits several times.
const largestBody = 1 << 20

// Options configure NewHandler. The zero value works.
type Options struct {
	// BaseURL, TrustedProxies and CORSOrigins are as in package httpapi.
	BaseURL        string
	TrustedProxies []netip.Prefix
	CORSOrigins    []string

	// Limits is a *httpapi.Limits, see httpapi.NewLimits. Handlers with the same Limits count the
	// requests of a key together. nil: limits of its own.
	Limits *serving.Limits

	// PersonHeaders are the headers that name the person who asks, as in package httpapi.
	PersonHeaders []string

	// Authenticate says whom the program has signed in, as in package httpapi.
	Authenticate func(*http.Request) (engine.Caller, error)

	// Tools configures the tools. Its Dir, ImageURL, Schemas and Log are ignored: this package never
	// reads or writes files.
	Tools mcpserver.Options

	// Log gets a line for each request. Neither keys nor prompts are logged. nil: silent.
	Log *slog.Logger
}

// NewHandler returns a handler for Path. It is safe for concurrent use and need not be
// closed.
func NewHandler(service *engine.Engine, o Options) http.Handler {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Tools.Dir, o.Tools.Schemas, o.Tools.Log = nil, mcp.NewSchemaCache(),
		slog.New(serving.NewLogHandler(o.Log.Handler()))
	a := &api{engine: service, tools: o.Tools, site: serving.NewSite(serving.Site{BaseURL: o.BaseURL,
		TrustedProxies: o.TrustedProxies, CORSOrigins: o.CORSOrigins, Limits: o.Limits,
		PersonHeaders: o.PersonHeaders, Authenticate: o.Authenticate}, o.Log)}
	options := mcp.StreamableHTTPOptions{
		Stateless:           true,
		MaxRequestBodyBytes: largestBody,
		// That protection refuses a foreign Host on this machine's own address, which is just what a proxy
		// sends. A page that reaches this machine under another name has no key, and gets nothing.
		DisableLocalhostProtection: true,
	}
	a.streams = mcp.NewStreamableHTTPHandler(a.server, &options)
	whole := options
	whole.JSONResponse = true
	a.whole = mcp.NewStreamableHTTPHandler(a.server, &whole)
	return a
}

// api is the handler.
type api struct {
	engine  *engine.Engine
	site    *serving.Site
	tools   mcpserver.Options
	streams http.Handler // answers with events
	whole   http.Handler // answers with one JSON object
}

// ServeHTTP implements http.Handler.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &serving.Exchange{Route: Path}
	a.site.Begin(x, w, r)
	defer a.site.Finish(x, func() { fail(x, imagegen.ErrInternal) })
	if err := a.answerMessage(x); err != nil {
		fail(x, err)
	}
}

func fail(x *serving.Exchange, err error) {
	x.Fail(err, func(e *imagegen.Error, status int) (int, any) {
		if e.Code == codeOrigin {
			status = http.StatusForbidden
		}
		return status, wire.ErrorBody{Error: wire.Failure{Message: e.Message, Code: e.Code}}
	})
}

func (a *api) answerMessage(x *serving.Exchange) error {
	switch x.Request.Method {
	case http.MethodPost:
	case http.MethodOptions:
		x.Header().Set("Allow", allowed)
		return a.site.Preflight(x)
	default: // without sessions there is no stream to listen to, and nothing to end
		x.Header().Set("Allow", allowed)
		return &imagegen.Error{Code: serving.CodeMethodNotAllowed, Message: "this address takes POST only"}
	}
	if !a.admits(x.Request) {
		return errOrigin
	}
	session, leave, err := serving.Admit(x, a.site, a.engine.Authenticate)
	if err != nil {
		return err
	}
	defer leave()
	if err := a.site.FindBase(x); err != nil {
		return err
	}
	return a.call(x, session)
}

const allowed = "OPTIONS, POST"

// codeOrigin is a code of this interface only, so fail knows its status: 403.
const codeOrigin imagegen.Code = "originNotAllowed"

var errOrigin = &imagegen.Error{Code: codeOrigin,
	Message: "pages of this Origin may not call the service; its operator allows them with --cors-origin"}

// admits reports whether a request may come from where it does. Programs send no Origin; pages do, even
// those that reach this address under a name of their own (DNS rebinding), which the protocol wants
// refused.
func (a *api) admits(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return origin == "" || origin == a.site.BaseURL || slices.Contains(a.site.CORSOrigins, origin) ||
		slices.Contains(a.site.CORSOrigins, "*") || ofThisMachine(origin)
}

// ofThisMachine reports whether a page comes from a program on the machine of its reader, such as an
// inspector for developers.
func ofThisMachine(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}

// call reads the body under the same limits as any other interface, and hands the request on to the
// protocol, with the caller in its context.
func (a *api) call(x *serving.Exchange, session *engine.Session) error {
	body, err := x.Body(largestBody)
	if err != nil {
		return err
	}
	holding := a.site.Limits.Hold(x.Payer)
	defer holding.Release()
	sent, err := holding.ReadAll(body)
	if err != nil {
		return serving.BodyError(err)
	}
	if err := checkSingleCall(sent); err != nil {
		x.Err = err
		// the identifier is null, since there is none to trust
		return x.JSON(http.StatusBadRequest, map[string]any{"jsonrpc": "2.0", "id": nil,
			"error": map[string]any{"code": invalidRequest, "message": serving.Coded(err).Message}})
	}
	r := x.Request.WithContext(context.WithValue(x.Ctx, callerKey{}, caller{session, x.Base}))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
	w := &answer{Exchange: x}
	a.protocol(r).ServeHTTP(w, r)
	return w.refuse()
}

// protocol returns what answers a request in a form that its caller takes. The protocol wants callers to take both
// forms, and the SDK insists; but some take one of them, and programs that are written by hand often do not say.
func (a *api) protocol(r *http.Request) http.Handler {
	accept := r.Header.Get("Accept")
	r.Header = r.Header.Clone()
	r.Header.Set("Accept", "application/json, text/event-stream")
	if strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/event-stream") {
		return a.whole
	}
	return a.streams
}

// answer is what the protocol's answer is written to: streams are flushed, and nobody may store it. A refusal of the
// transport, which the SDK writes as plain text, becomes a body such as every other error has.
type answer struct {
	*serving.Exchange
	refused int    // the status of a refusal; 0: none
	said    []byte // its text
}

// refuse answers with the refusal, if there is one.
func (a *answer) refuse() error {
	if a.refused == 0 {
		return nil
	}
	e := imagegen.Invalid("%s", bytes.TrimSpace(a.said))
	if a.refused >= http.StatusInternalServerError {
		e = imagegen.Internal(e)
	}
	a.Exchange.Fail(e, func(e *imagegen.Error, _ int) (int, any) {
		return a.refused, wire.ErrorBody{Error: wire.Failure{Message: e.Message, Code: e.Code}}
	})
	return nil
}

// checkSingleCall refuses what is not one call, or could be understood differently. The limits of a key count requests,
// so a request must be one call: the protocol dropped batches.
func checkSingleCall(sent []byte) error {
	if bytes.HasPrefix(bytes.TrimLeft(sent, " \t\r\n"), []byte("[")) {
		return imagegen.Invalid("a batch is not possible: send each call as a request of its own")
	}
	return jsonscan.Check(sent)
}

// invalidRequest is the code of JSON-RPC for what is not one valid call.
const invalidRequest = -32600

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(a.Header().Get("Content-Type"), "text/plain") {
		a.refused = status
		return
	}
	if a.Header().Get("Cache-Control") == "" {
		a.Header().Set("Cache-Control", "no-store")
	}
	a.Exchange.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	if a.refused != 0 {
		a.said = append(a.said, p...)
		return len(p), nil
	}
	if a.Status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	return a.Exchange.Write(p)
}

// FlushError serves http.ResponseController.
func (a *answer) FlushError() error {
	if a.refused != 0 {
		return nil
	}
	if a.Status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	return a.Exchange.Flush()
}

// caller is who asks, and the base of the addresses in the answer.
type caller struct {
	session *engine.Session
	base    string
}

type callerKey struct{}

// server makes the server of one request: there are no sessions, so it costs little and ends with it.
func (a *api) server(r *http.Request) *mcp.Server {
	c := r.Context().Value(callerKey{}).(caller)
	o := a.tools
	o.ImageURL = func(id imagegen.ImageID) string { return strings.TrimRight(c.base, "/") + wire.ImagePath(id) }
	return mcpserver.New(c.session, o)
}
