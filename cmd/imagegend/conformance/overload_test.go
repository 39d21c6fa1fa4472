package conformance_test

import (
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

var overloadChecks = []check{
	{
		name: "overload",
		lines: []string{
			"contract: | overload or shutdown, or a database",
			"contract: | time | 800 s cover",
			"contract: | nothing is recorded |",
		},
		run: checkOverload,
	},
	{
		name: "fair shares",
		lines: []string{"contract: | overload or shutdown, or a database",
			"contract: | fair share | one user holds at most half"},
		elsewhere: []string{"imagegen/engine.TestShares", "imagegen/engine/internal/schedule.TestKeptSlots"},
	},
	{
		name:  "images that cannot be stored",
		lines: []string{"contract: | overload or shutdown, or a database", "contract: | a made image cannot be stored"},
		elsewhere: []string{"imagegen/engine.TestImagesAreKeptWhileTheStoreIsAway",
			"imagegen/engine.TestNothingBeginsWhileTheStoreIsAway", "imagegen/engine.TestMemoryOfImagesThatAreKept",
			"imagegen/engine.TestImagesThatAreLost", "cmd/imagegend/survival.TestObjectStoreAway"},
	},
}

var requestIDChecks = []check{
	{name: "X-Request-Id", lines: []string{"contract: | `X-Request-Id` |"}, run: checkRequestID},
}

var limitChecks = []check{
	{name: "refusals are bounded", lines: []string{"spec: | Separate API rate limit |",
		"contract: | prompts that providers refuse |"}, elsewhere: []string{"imagegen/httpapi.TestTooManyRefusals",
		"imagegen/engine.TestRefusedPromptsAreBounded"}},
	{name: "no rate limit", lines: []string{"spec: | Separate API rate limit |"}, run: checkNoRateLimit},
	{
		name:      "the users' documentation says the same",
		lines:     []string{"contract: `spec.md` is the specification."},
		elsewhere: []string{"cmd/imagegend/conformance.TestUserDocumentation"},
	},
}

func checkOverload(t *testing.T, s *service) {
	is := is.New(t)
	s = s.start(t, settings{concurrency: 1, slotWait: 200 * time.Millisecond, maxQueued: 2})
	a := s.account(t, 10)
	a.reaches(t, a.queued(t, object{"prompt": "[fake:hang]"})["id"], "processing")
	began := time.Now()
	a.post(t, fox(object{"n": 2})).refused(t, http.StatusServiceUnavailable, "overloaded").has(t, "Retry-After",
		seconds, "Location", "", "X-Should-Retry", "")
	is.True(time.Since(began) >= 200*time.Millisecond)
	a.queued(t, nil)
	a.queued(t, nil)
	a.post(t, fox(object{"async": true}), "Idempotency-Key", "one").refused(t, http.StatusServiceUnavailable,
		"overloaded").has(t, "Retry-After", seconds)
	same(t, a.credits(t), 7)
	same(t, len(a.list(t, "")["data"].([]any)), 3)
	s.call(t, request{address: "/api/v1/models"}).is(t, http.StatusOK)
}

func checkRequestID(t *testing.T, s *service) {
	is := is.New(t)
	a := s.account(t, 10)
	paths := []string{"/api/v1/models", "/api/v1/credits", "/api/v1/generations", "/api/v1/generations/nope",
		"/nowhere", "/healthz", "/readyz", "/images/x"}
	seen := map[string]bool{}
	for _, path := range paths {
		for _, method := range []string{http.MethodGet, http.MethodOptions, http.MethodDelete} {
			id := s.call(t, request{method: method, address: path}).header.Get("X-Request-Id")
			is.True(len(id) >= 16 && !seen[id])
			seen[id] = true
			s.call(t, request{method: method, address: path, header: []string{"X-Request-Id", "trace-1.2_3"}}).
				has(t, "X-Request-Id", "trace-1.2_3")
		}
	}
	for _, sent := range []string{"a", "A-b_c.9", strings.Repeat("x", 128)} {
		s.call(t, request{address: "/healthz", header: []string{"X-Request-Id", sent}}).has(t, "X-Request-Id", sent)
	}
	for _, insane := range []string{"", "two words", "a\tb", strings.Repeat("x", 129), `"quoted"`, "é"} {
		id := s.call(t, request{address: "/api/v1/models", header: []string{"X-Request-Id", insane}}).
			header.Get("X-Request-Id")
		is.True(id != insane && len(id) >= 16 && !seen[id])
		seen[id] = true
	}
	mine := "mine-" + a.user
	failed := a.post(t, fox(object{"prompt": "[fake:fail] a fox for the log"}), "X-Request-Id", mine).
		is(t, http.StatusInternalServerError)
	eventually(t, "the request is in the log", func() bool { return strings.Contains(s.log(), mine) })
	for line := range strings.Lines(s.log()) {
		if strings.Contains(line, path.Base(failed.header.Get("Location"))) && !strings.Contains(line, `"request_id":"`+
			mine+`"`) {
			t.Errorf("a line of the request without its id: %s", line)
		}
	}
	is.True(!strings.Contains(s.log(), "a fox for the log"))
	is.True(!strings.Contains(s.log(), a.key[15:]))
}

func checkNoRateLimit(t *testing.T, s *service) {
	a := s.account(t, 300)
	for range 300 {
		a.get(t, "/api/v1/credits").is(t, http.StatusOK).has(t, "Retry-After", "", "X-RateLimit-Limit", "", "RateLimit",
			"")
	}
	for range 100 {
		a.generated(t, object{"size": "16x16"})
	}
}
