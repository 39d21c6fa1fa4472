package daemon

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/shell"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/mcphttp"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
	"github.com/imagegend/imagegend/imagegen/mcpserver"
	"github.com/imagegend/imagegend/internal/accesslog"
)

// api serves the interfaces for programs: the native one, the one in OpenAI's shape, and the tools of the Model
// Context Protocol. They share limits, so a key has the same share whichever of them it uses.
func (d *daemon) api() http.Handler {
	// One key may use every slot, and poll with as many requests at once.
	limits := httpapi.NewLimits(max(256, 2*d.options.Concurrency))
	native := httpapi.NewHandler(d.engine, httpapi.Options{
		BaseURL:        d.options.BaseURL,
		Limits:         limits,
		TrustedProxies: d.options.TrustedProxies,
		CORSOrigins:    d.options.CORSOrigins,
		PersonHeaders:  d.options.PersonHeaders,
		RedirectImages: d.options.ImageLinks == config.Redirect,
		Log:            d.log,
	})
	shaped := openai.NewHandler(d.engine.Authenticate, openai.Options{
		BaseURL:        d.options.BaseURL,
		Limits:         limits,
		TrustedProxies: d.options.TrustedProxies,
		CORSOrigins:    d.options.CORSOrigins,
		PersonHeaders:  d.options.PersonHeaders,
		Log:            d.log,
	})
	tools := d.tools(limits)
	return d.tellOfGrants(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, openai.Prefix):
			shaped.ServeHTTP(w, r)
		case r.URL.Path == mcphttp.Path:
			tools.ServeHTTP(w, r)
		default:
			native.ServeHTTP(w, r)
		}
	}))
}

// tools serves agents by the Model Context Protocol over HTTP.
func (d *daemon) tools(limits *httpapi.Limits) http.Handler {
	return mcphttp.NewHandler(d.engine, mcphttp.Options{
		BaseURL:        d.options.BaseURL,
		TrustedProxies: d.options.TrustedProxies,
		CORSOrigins:    d.options.CORSOrigins,
		PersonHeaders:  d.options.PersonHeaders,
		Limits:         limits,
		Tools:          mcpserver.Options{Version: d.options.Version},
		Log:            d.log,
	})
}

// documented serves the OpenAPI document and a page for reading it beside the API.
func documented(next http.Handler, baseURL string) http.Handler {
	// One route for all of it: the metrics have no use for more.
	docs := httpapi.WithRoute("/docs", httpapi.WithRequestID(openapi.Handler(baseURL)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if openapi.Serves(r.URL.Path) {
			docs.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// tellOfGrants has the log of --dev say how to get more credits once they are used up: with --dev the caller is the
// operator. Other callers could do nothing with an operator's command.
func (d *daemon) tellOfGrants(api http.Handler) http.Handler {
	if !d.options.Dev {
		return api
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		noted := &accesslog.Writer{ResponseWriter: w}
		api.ServeHTTP(noted, r)
		if noted.Status == http.StatusPaymentRequired {
			d.log.Warn("the credits are used up; for more, run in another terminal: " +
				fmt.Sprintf("imagegend credit grant --user %s %d --data-dir %s", devUser, devCredits,
					shell.Quote(d.options.DataDir)))
		}
	})
}
