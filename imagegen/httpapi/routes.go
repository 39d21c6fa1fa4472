package httpapi

import (
	"net/http"
	"strings"

	"github.com/julienschmidt/httprouter"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// handle answers a request, or returns the error that is the answer. It does one or the other.
type handle func(x *exchange) error

const (
	pathHealthy = "/healthz"
	pathReady   = "/readyz"
)

// routes returns the router with every route there is. It cleans no path and redirects nothing: a
// client that follows a redirect may repeat a POST as a GET, or send its key elsewhere.
func (a *api) routes() *httprouter.Router {
	r := httprouter.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false
	r.NotFound = answer(func(*exchange) error { return imagegen.ErrNotFound })
	r.MethodNotAllowed = answer(methodNotAllowed)
	r.GlobalOPTIONS = answer(func(x *exchange) error { return a.site.Preflight(&x.Exchange) })

	get(r, wire.ModelsPath, a.models)
	get(r, wire.CreditsPath, a.withKey(a.balance))
	post(r, wire.GeneratePath, a.withKey(a.generate))
	post(r, wire.QuotePath, a.withKey(a.quote))
	get(r, wire.UsagePath, a.withKey(a.usage))
	get(r, wire.GenerationsPath, a.withKey(a.generations))
	get(r, wire.GenerationPath(":id"), a.withKey(a.generation))
	post(r, wire.CancelPath(":id"), a.withKey(a.cancel))
	get(r, wire.ImagePath(":id"), a.image)
	get(r, pathHealthy, a.healthy)
	get(r, pathReady, a.ready)
	return r
}

func get(r *httprouter.Router, path string, h handle) {
	r.GET(path, route(path, h))
	r.HEAD(path, route(path, h))
}

func post(r *httprouter.Router, path string, h handle) { r.POST(path, route(path, h)) }

// route gives a handler its route's name, for the log and for watchers, and the
// identifier in the path. Health checks are frequent, so they are logged for debugging only.
func route(path string, h handle) httprouter.Handle {
	return func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		x := w.(*exchange)
		x.Route, x.id = path, p.ByName("id")
		x.Quiet = path == pathHealthy || path == pathReady
		x.answer(h)
	}
}

// answer makes an http.HandlerFunc of a handler for requests that belong to no route.
func answer(h handle) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.(*exchange).answer(h) }
}

// methodNotAllowed names the methods of Allow, which the router has set. A call in OpenAI's shape whose base address
// lacks its last part meets the route of images, which is not what it looks for.
func methodNotAllowed(x *exchange) error {
	message := "this address takes " + strings.ReplaceAll(x.Header().Get("Allow"), ", OPTIONS", "") + " only"
	if path := x.Request.URL.Path; path == "/images/generations" || path == "/images/edits" {
		message += "; OpenAI's " + path + " is at /v1" + path + ", so the base address of its clients ends with /v1"
	}
	return &imagegen.Error{Code: serving.CodeMethodNotAllowed, Message: message}
}

// withKey lets a handler answer for the user whose key came with the request, or whom the host signed in, see
// serving.Admit.
func (a *api) withKey(h handle) handle {
	return func(x *exchange) error {
		session, leave, err := serving.Admit(&x.Exchange, a.site, a.engine.Authenticate)
		if err != nil {
			return err
		}
		defer leave()
		x.session = session
		return h(x)
	}
}
