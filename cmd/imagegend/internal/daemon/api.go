package daemon

import (
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/mcphttp"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
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
		RedirectImages: d.options.ImageLinks == config.Redirect,
		Log:            d.log,
	})
	shaped := openai.NewHandler(d.engine.Authenticate, openai.Options{
		BaseURL:        d.options.BaseURL,
		Limits:         limits,
		TrustedProxies: d.options.TrustedProxies,
		CORSOrigins:    d.options.CORSOrigins,
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
