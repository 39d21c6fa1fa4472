package daemon

import (
	"net/http"

	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/mcphttp"
	"github.com/imagegend/imagegend/imagegen/mcpserver"
)

// tools serves agents by the Model Context Protocol over HTTP.
func (d *daemon) tools(limits *httpapi.Limits) http.Handler {
	return mcphttp.NewHandler(d.engine, mcphttp.Options{
		BaseURL:        d.options.BaseURL,
		TrustedProxies: d.options.TrustedProxies,
		CORSOrigins:    d.options.CORSOrigins,
		Limits:         limits,
		Tools:          mcpserver.Options{Version: d.options.Version},
		Log:            d.log,
	})
}
