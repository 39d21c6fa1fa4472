package daemon

import (
	"net/http"

	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
)

// documented serves the description of the API beside it.
func documented(next http.Handler, baseURL string) http.Handler {
	docs := httpapi.WithRoute("/docs", httpapi.WithRequestID(openapi.Handler(baseURL)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if openapi.Serves(r.URL.Path) {
			docs.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
