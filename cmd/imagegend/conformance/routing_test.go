package conformance_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var routingChecks = []check{
	{
		name: "unknown paths",
		lines: []string{
			"spec: Base address: {base_url}.",
			"spec: All paths are under `/api/v1`.",
			"spec: | 404 | notFound |",
			"spec: The version is in the path prefix `/api/v1`",
			"spec: Deprecation policy and any other version selection",
			"contract: | path | unknown path, trailing slash",
		},
		run: checkUnknownPaths,
	},
	{
		name:  "wrong methods",
		lines: []string{"contract: | path | unknown path, trailing slash"},
		run:   checkWrongMethods,
	},
	{
		name:  "HEAD is GET",
		lines: []string{"contract: | path | unknown path, trailing slash"},
		run:   checkHead,
	},
	{
		name:  "OPTIONS and CORS",
		lines: []string{"contract: | path | unknown path, trailing slash"},
		run:   checkCORS,
	},
	{
		name:  "health",
		lines: []string{"contract: | `GET /healthz`, `GET /readyz` |"},
		run:   checkHealth,
	},
}

func checkUnknownPaths(t *testing.T, s *service) {
	a := s.account(t, 0)
	for _, path := range []string{
		"/", "/api", "/api/v1", "/api/v1/", "/api/v2/models", "/models", "/api/v1/model", "/API/v1/models",
		"/api/v1/models/", "/api/v1/credits/", "/api/v1/generations/", "/api/v1/images/generations/", "/healthz/",
		"/images/", "/images", "/api//v1/models", "//api/v1/models", "/api/v1//models", "/api/v1/./models",
		"/api/v1/generations/a/b", "/images/a/b", "/api/v1/generations/gen_01KAJ1V5W8Z0M5QY7GJ7T9C2RE/images",
		"/webhooks", "/api/v1/webhooks", "/api/v1/events", "/admin", "/metrics", "/debug/pprof/", "/favicon.ico",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodOptions,
			"BREW"} {
			for _, key := range []string{"", a.key} {
				s.call(t, request{method: method, address: path, key: key}).refused(t, http.StatusNotFound, "notFound").
					has(t, "Location", "")
			}
		}
	}
}

// routes are all paths with the methods that they take.
var routes = []struct{ path, allow string }{
	{"/api/v1/models", "GET, HEAD, OPTIONS"},
	{"/api/v1/credits", "GET, HEAD, OPTIONS"},
	{"/api/v1/images/generations", "OPTIONS, POST"},
	{"/api/v1/generations", "GET, HEAD, OPTIONS"},
	{"/api/v1/generations/gen_01KAJ1V5W8Z0M5QY7GJ7T9C2RE", "GET, HEAD, OPTIONS"},
	{"/images/image_1", "GET, HEAD, OPTIONS"},
	{"/healthz", "GET, HEAD, OPTIONS"},
	{"/readyz", "GET, HEAD, OPTIONS"},
}

func allowed(t *testing.T, a answer) string {
	t.Helper()
	methods := strings.Split(a.header.Get("Allow"), ", ")
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

func checkWrongMethods(t *testing.T, s *service) {
	is := is.New(t)
	for _, route := range routes {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} {
			if slices.Contains(strings.Split(route.allow, ", "), method) {
				continue
			}
			a := s.call(t, request{method: method, address: route.path}).is(t, http.StatusMethodNotAllowed)
			is.Equal(allowed(t, a), route.allow)
			if method != "HEAD" {
				a.refused(t, http.StatusMethodNotAllowed, "methodNotAllowed")
			}
		}
	}
}

func checkHead(t *testing.T, s *service) {
	is := is.New(t)
	a := s.account(t, 10)
	g := a.generated(t, nil)
	id := g["id"].(string)
	for _, address := range []string{
		"/api/v1/models", "/api/v1/credits", "/api/v1/generations", "/api/v1/generations/" + id,
		"/api/v1/generations/nope", g["images"].([]any)[0].(object)["url"].(string), "/images/image_1", "/healthz",
		"/readyz", "/nowhere",
	} {
		get := a.get(t, address)
		head := a.call(t, request{method: http.MethodHead, address: address, key: a.key})
		is.Equal(head.status, get.status)
		is.Equal(len(head.body), 0)
		is.Equal(head.header.Get("Content-Length"), fmt.Sprint(len(get.body)))
		for _, h := range []http.Header{get.header, head.header} {
			h.Del("Date")
			h.Del("X-Request-Id")
		}
		same(t, head.header, get.header)
	}
	s.call(t, request{method: http.MethodHead, address: "/api/v1/credits"}).is(t, http.StatusUnauthorized).
		has(t, "WWW-Authenticate", "Bearer")
}

func checkCORS(t *testing.T, s *service) {
	is := is.New(t)
	preflight := []string{"Origin", "https://app.example.com", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization, content-type"}
	for _, route := range routes {
		options := s.call(t, request{method: http.MethodOptions, address: route.path, header: preflight}).
			is(t, http.StatusNoContent)
		is.Equal(allowed(t, options), route.allow)
		is.Equal(len(options.body), 0)
		options.has(t, "Access-Control-Allow-Origin", "", "Access-Control-Allow-Methods", "",
			"Access-Control-Allow-Headers", "")
	}
	s.call(t, request{address: "/api/v1/models", header: preflight}).has(t, "Access-Control-Allow-Origin", "")

	s = s.start(t, settings{corsOrigin: "https://app.example.com"})
	// an error can be read, too
	refused := s.call(t, request{address: "/api/v1/credits", header: preflight}).is(t, http.StatusUnauthorized)
	refused.has(t, "Access-Control-Allow-Origin", "https://app.example.com", "Access-Control-Expose-Headers",
		pattern(".*Retry-After.*"), "Vary", "Origin")
	for _, other := range []string{"https://evil.example.com", "https://app.example.com.evil", "null", ""} {
		s.call(t, request{address: "/api/v1/models", header: []string{"Origin", other}}).
			has(t, "Access-Control-Allow-Origin", "", "Vary", "Origin, Authorization")
	}
	options := s.call(t, request{method: http.MethodOptions, address: generationsPath, header: preflight}).
		is(t, http.StatusNoContent)
	options.has(t, "Access-Control-Allow-Origin", "https://app.example.com", "Access-Control-Allow-Methods",
		"OPTIONS, POST")
	is.Equal(options.header.Get("Access-Control-Allow-Headers"), "authorization, content-type")
	s.start(t, settings{corsOrigin: "*"}).call(t, request{address: "/api/v1/models", header: preflight}).
		has(t, "Access-Control-Allow-Origin", "https://app.example.com")
}

func checkHealth(t *testing.T, s *service) {
	for path, body := range map[string]object{"/healthz": {"status": "ok"}, "/readyz": {"ready": true}} {
		answer := s.call(t, request{address: path}).is(t, http.StatusOK).has(t, "Content-Type", "application/json",
			"Cache-Control", "no-store", "X-Content-Type-Options", "nosniff")
		same(t, answer.object(t), body)
	}
}
