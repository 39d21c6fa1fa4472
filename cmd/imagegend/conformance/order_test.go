package conformance_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

var orderChecks = []check{
	{
		name:  "the order of checks",
		lines: []string{"contract: | order of checks |"},
		run:   checkOrder,
	},
	{
		name:  "the key is checked before the body is read",
		lines: []string{"contract: | order of checks |"},
		run:   checkKeyBeforeBody,
	},
	{
		name: "credits that do not suffice",
		lines: []string{
			"spec: 2. When the account lacks credits",
			"spec: | 402 | insufficientCredits |",
			"contract: | nothing is recorded |",
		},
		elsewhere: []string{"imagegen/client.TestOverHTTP"},
	},
}

// seconds is the value of a Retry-After.
const seconds = pattern(`[1-9]\d*`)

func checkOrder(t *testing.T, s *service) {
	s = s.start(t, settings{concurrency: 1, slotWait: 50 * time.Millisecond, maxQueued: 1})
	poor, rich := s.account(t, 1), s.account(t, 10)
	spent := poor.generated(t, nil, "Idempotency-Key", "spent")
	wrong := object{"n": 9}
	anonymous := &customer{service: s}

	anonymous.call(t, request{method: http.MethodPost, address: "/api/v1/nowhere"}).refused(t, http.StatusNotFound,
		"notFound")
	anonymous.call(t, request{method: http.MethodPut, address: generationsPath}).refused(t, http.StatusMethodNotAllowed,
		"methodNotAllowed")
	anonymous.post(t, wrong).refused(t, http.StatusUnauthorized, "missingApiKey")
	anonymous.get(t, "/api/v1/generations?limit=x").refused(t, http.StatusUnauthorized, "missingApiKey")
	poor.post(t, fox(wrong), "Idempotency-Key", "spent").refused(t, http.StatusBadRequest, "invalid_request") // not 422
	poor.post(t, fox(nil)).refused(t, http.StatusPaymentRequired, "insufficientCredits")

	// From here on there is no slot, and no room in the queue.
	rich.reaches(t, rich.queued(t, object{"prompt": "[fake:hang]"})["id"], "processing")
	rich.queued(t, nil)
	full := func(a answer) {
		t.Helper()
		a.refused(t, http.StatusServiceUnavailable, "overloaded").has(t, "Retry-After", seconds)
	}
	full(poor.post(t, fox(nil))) // not 402
	full(poor.post(t, fox(object{"async": true})))
	full(rich.post(t, fox(nil)))
	// not 503
	poor.post(t, fox(wrong)).refused(t, http.StatusBadRequest, "invalid_request")
	// not 503
	same(t, poor.generated(t, nil, "Idempotency-Key", "spent"), spent)
	// not 503
	poor.post(t, fox(object{"n": 2}), "Idempotency-Key", "spent").refused(t, 422, "idempotencyKeyReused", "key")
}

func checkKeyBeforeBody(t *testing.T, s *service) {
	for authorization, code := range map[string]string{"": "missingApiKey",
		"Authorization: Bearer nonsense\r\n": "invalidApiKey"} {
		for _, contentType := range []string{"application/json", "multipart/form-data; boundary=x"} {
			s.raw(t, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Type: %s\r\nContent-Length: 1000\r\n\r\n{",
				generationsPath, authorization, contentType)).
				refused(t, http.StatusUnauthorized, code)
		}
	}
}
