package conformance_test

import (
	"net/http"
	"strings"
	"testing"
)

const addressLine = "contract: | `url`, `poll_url` | built from"

var addressChecks = []check{
	{name: "addresses follow the Host", lines: []string{addressLine}, run: checkHost},
	{name: "addresses follow the configuration", lines: []string{addressLine}, run: checkBaseURL},
	{name: "forwarded headers", lines: []string{addressLine}, run: checkForwarded},
}

// forged are headers that only a trusted proxy may send.
var forged = []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "forwarded.example.com", "Forwarded",
	"host=forwarded.example.com;proto=https"}

// begin checks what the addresses in the answers begin with.
func (a *customer) begin(t *testing.T, base string, header ...string) {
	t.Helper()
	made := a.post(t, fox(nil), header...).is(t, http.StatusOK).has(t, "Location",
		pattern(base+`/api/v1/generations/gen_\w+`))
	same(t, without(made.object(t), "balance"), succeeded(base, 1))
	id := made.object(t)["id"].(string)
	same(t, a.get(t, "/api/v1/generations/"+id, header...).object(t), succeeded(base, 1))
	same(t, a.get(t, "/api/v1/generations", header...).object(t)["data"].([]any)[0], succeeded(base, 1))
}

func checkHost(t *testing.T, s *service) {
	a := s.account(t, 10)
	a.begin(t, s.url)
	a.begin(t, "http://images.example.com", "Host", "images.example.com")
	a.begin(t, "http://images.example.com:8443", append(forged, "Host", "images.example.com:8443")...)
	first := a.post(t, fox(nil), "Host", "one.example.com", "Idempotency-Key", "one").is(t, http.StatusOK)
	again := a.post(t, fox(nil), "Host", "two.example.com", "Idempotency-Key", "one").is(t, http.StatusOK).
		has(t, "Idempotent-Replayed", "true")
	same(t, string(again.body), strings.ReplaceAll(string(first.body), "one.example.com", "two.example.com"))
}

func checkBaseURL(t *testing.T, s *service) {
	a := s.start(t, settings{baseURL: "https://images.example.com/base"}).account(t, 10)
	a.begin(t, "https://images.example.com/base", append(forged, "Host", "other.example.com")...)
}

func checkForwarded(t *testing.T, s *service) {
	a := s.start(t, settings{trustedProxy: "127.0.0.0/8"}).account(t, 10)
	a.begin(t, "https://forwarded.example.com", forged[:4]...)
	a.begin(t, a.url)
	b := s.start(t, settings{trustedProxy: "192.0.2.0/24"}).account(t, 10)
	b.begin(t, b.url, forged...)
}
