package daemon

import (
	"net/http"

	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
)

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
