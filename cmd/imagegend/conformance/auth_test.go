package conformance_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

var authChecks = []check{
	{
		name: "which endpoints need a key",
		lines: []string{
			"spec: All paths are under `/api/v1`. The auth column",
			"spec: | GET | /api/v1/models | none |",
			"spec: | GET | /api/v1/credits | Bearer |",
			"spec: | POST | /api/v1/images/generations | Bearer |",
			"spec: | GET | /api/v1/generations/:generationId | Bearer |",
			"spec: 1. All `/api/v1` endpoints except the model listing",
			"spec: 1. When the key is missing, invalid or expired",
			"spec: | 401 | missingApiKey |",
		},
		run: checkNeedsKey,
	},
	{
		name: "the Authorization header",
		lines: []string{
			"spec: 5. Failures: header missing gives 401",
			"spec: | 401 | missingApiKey |",
			"spec: | 401 | invalidApiKey |",
			"contract: `Authorization` absent or blank",
		},
		run: checkAuthorization,
	},
	{
		name: "keys that are not valid any more",
		lines: []string{
			"spec: 1. When the key is missing, invalid or expired",
			"spec: 5. Failures: header missing gives 401",
			"spec: 6. Key lifetime and the duration until expiry",
			"spec: | 401 | invalidApiKey |",
			"spec: | 401 | expiredApiKey |",
			"contract: `Authorization` absent or blank",
			"contract: Key format: `img_live_`",
			"contract: | nothing is recorded |",
		},
		run: checkEndedKeys,
	},
	{
		name: "a key is its user's",
		lines: []string{
			"spec: 4. A key belongs to a user;",
		},
		run: checkKeyOfUser,
	},
}

// keyed are the requests that need a key.
var keyed = []request{
	{method: http.MethodGet, address: "/api/v1/credits"},
	{method: http.MethodPost, address: generationsPath},
	{method: http.MethodGet, address: "/api/v1/generations/gen_01KAJ1V5W8Z0M5QY7GJ7T9C2RE"},
	{method: http.MethodGet, address: "/api/v1/generations"},
}

func checkNeedsKey(t *testing.T, s *service) {
	for _, r := range keyed {
		s.call(t, r).refused(t, http.StatusUnauthorized, "missingApiKey", "Authorization: Bearer").
			has(t, "WWW-Authenticate", "Bearer")
	}
	for _, free := range []string{"/api/v1/models", "/healthz", "/readyz"} {
		s.call(t, request{address: free}).is(t, http.StatusOK).has(t, "WWW-Authenticate", "")
	}
}

func checkAuthorization(t *testing.T, s *service) {
	a := s.account(t, 1)
	altered := []byte(a.key)
	altered[20] ^= 1
	for _, c := range []struct{ header, code string }{
		{"", "missingApiKey"},
		{"  ", "missingApiKey"},
		{"Bearer", "invalidApiKey"},
		{"Bearer ", "invalidApiKey"},
		{a.key, "invalidApiKey"},
		{"Basic " + a.key, "invalidApiKey"},
		{"Token " + a.key, "invalidApiKey"},
		{"Bearer" + a.key, "invalidApiKey"},
		{"Bearer nonsense", "invalidApiKey"},
		{"Bearer " + string(altered), "invalidApiKey"},
		{"Bearer " + a.key[:len(a.key)-1], "invalidApiKey"},
		{"Bearer " + a.key + "x", "invalidApiKey"},
		{"Bearer " + a.key + " " + a.key, "invalidApiKey"},
		{"Bearer \"" + a.key + "\"", "invalidApiKey"},
		{"Bearer " + a.key + ", Bearer " + a.key, "invalidApiKey"},
		{"Bearer " + strings.ToUpper(a.key), "invalidApiKey"},
		{"Bearer\u00a0" + a.key, "invalidApiKey"},
		{"Bearer \u00a0" + a.key, "invalidApiKey"},
		{"Bearer " + a.key + "\u00a0", "invalidApiKey"},
		{"Bearer\t" + a.key, "invalidApiKey"},
		{"Bearer img_live_0000000000000000000000000000000000000000000" +
			checksum("img_live_0000000000000000000000000000000000000000000"), "invalidApiKey"},
	} {
		for _, r := range keyed {
			r.header = []string{"Authorization", c.header}
			refused := s.call(t, r).refused(t, http.StatusUnauthorized, c.code).has(t, "WWW-Authenticate", "Bearer")
			if strings.Contains(string(refused.body), a.key) {
				t.Errorf("%q: the answer has the key: %s", c.header, refused.body)
			}
		}
	}
	// A key that is sent in the wrong way is not refused as one that does not exist.
	for _, header := range []string{a.key, "Basic " + a.key, "Bearer"} {
		s.call(t, request{address: "/api/v1/credits", header: []string{"Authorization", header}}).
			refused(t, http.StatusUnauthorized, "invalidApiKey", "Bearer ")
	}
	a.get(t, "/api/v1/credits", "Authorization", "Bearer "+a.key).refused(t, http.StatusUnauthorized, "invalidApiKey",
		"sent twice")
	for _, scheme := range []string{"Bearer", "bearer", "BEARER", "bEARER  "} {
		s.call(t, request{address: "/api/v1/credits", header: []string{"Authorization", scheme + " " + a.key}}).
			is(t, http.StatusOK)
	}
}

func checkEndedKeys(t *testing.T, s *service) {
	a := s.account(t, 10)
	refused := func(key, code string) {
		t.Helper()
		for _, r := range keyed {
			r.key = key
			s.call(t, r).refused(t, http.StatusUnauthorized, code).has(t, "WWW-Authenticate", "Bearer")
		}
	}
	short, revoked, both := s.createKey(t, a.user, 3*time.Second), s.createKey(t, a.user, 0),
		s.createKey(t, a.user, 3*time.Second)
	s.call(t, request{address: "/api/v1/credits", key: revoked}).is(t, http.StatusOK)
	s.revokeKey(t, a.user, revoked)
	refused(revoked, "invalidApiKey") // at once
	eventually(t, "the keys have expired", func() bool {
		first := s.call(t, request{address: "/api/v1/credits", key: short})
		second := s.call(t, request{address: "/api/v1/credits", key: both})
		return first.status == http.StatusUnauthorized && second.status == http.StatusUnauthorized
	})
	refused(short, "expiredApiKey")
	refused(both, "expiredApiKey")
	s.revokeKey(t, a.user, both)
	refused(both, "invalidApiKey") // revoked wins over expired

	a.get(t, "/api/v1/credits").is(t, http.StatusOK) // the other key is as it was
	same(t, []any{a.credits(t), a.get(t, "/api/v1/generations").object(t)["data"]}, []any{10, []any{}})
	s.disableUser(t, a.user)
	refused(a.key, "invalidApiKey")
	refused(short, "invalidApiKey")
}

func checkKeyOfUser(t *testing.T, s *service) {
	a := s.account(t, 10)
	second := *a
	second.key = s.createKey(t, a.user, time.Hour)
	g := a.generated(t, object{"n": 2})
	same(t, second.credits(t), 8)
	same(t, second.generation(t, g["id"]), without(g, "balance"))
	same(t, second.generated(t, nil, "Idempotency-Key", "one")["id"], a.generated(t, nil, "Idempotency-Key",
		"one")["id"])
	same(t, a.credits(t), 7)
}
