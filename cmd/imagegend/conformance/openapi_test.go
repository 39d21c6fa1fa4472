package conformance_test

import (
	"net/http"
	"testing"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

var openAPIChecks = []check{
	{
		name:   "the OpenAPI document",
		lines:  []string{"contract: | `GET /openapi.json`, `GET /docs` |", "contract: | `openapi` | prints"},
		daemon: checkDocument,
		elsewhere: []string{"cmd/imagegend/internal/cli.TestOpenAPI", "imagegen/httpapi.TestMain",
			"imagegen/httpapi/openapi/openapitest.TestAnswers",
			"imagegen/httpapi/openapi/openapitest.TestDeletedField", "imagegen/httpapi/openapi/openapitest.TestMissing",
			"imagegen/httpapi/openapi.TestPage", "imagegen/console/browsertest.TestDocs"},
	},
}

// checkDocument reads the document as a stranger, who has no key.
func checkDocument(t *testing.T) {
	const base = "https://images.example.com/prefix"
	s := serviceOf(daemontest.Start(t, daemontest.Options{Args: []string{"--base-url", base, "--console=false"}}))
	document := s.call(t, request{address: "/openapi.json"}).is(t, http.StatusOK).
		has(t, "Content-Type", "application/json", "X-Content-Type-Options", "nosniff", "X-Request-Id", pattern(".+")).
		object(t)
	same(t, document["openapi"], "3.1.0")
	same(t, document["servers"], []any{object{"url": base}})
	s.call(t, request{method: http.MethodHead, address: "/docs"}).is(t, http.StatusOK).
		has(t, "Content-Type", "text/html; charset=utf-8", "Content-Security-Policy", pattern("default-src 'none'; .+"))
	s.call(t, request{address: "/docs/rapidoc-min.js"}).is(t, http.StatusOK).has(t, "Content-Type",
		"text/javascript; charset=utf-8")
	s.call(t, request{address: "/docs/other"}).refused(t, http.StatusNotFound, "notFound")
	s.call(t, request{method: http.MethodPost, address: "/openapi.json"}).refused(t, http.StatusMethodNotAllowed,
		"methodNotAllowed")
}
