package conformance_test

import (
	"net/http"
	"path"
	"testing"

	"github.com/matryer/is"
)

var failureChecks = []check{
	{
		name: "synchronous failure",
		lines: []string{
			"spec: Billing: credits are charged before",
			"spec: Rules:",
			"spec: 4. When the provider fails or returns fewer images",
			"spec: 5. When generation fails, the error is 500",
			"spec: | 500 | generationFailed |",
			"contract: | synchronous failure (provider error",
			"contract: | `Location` |",
			"contract: | an image that is not whole",
		},
		run: checkSynchronousFailure,
		elsewhere: []string{"imagegen/engine.TestProviderOutcomes", "imagegen/engine.TestTheCompressedDataAreBroken",
			"imagegen/engine.TestAnImageIsCutOffAtAnyByte", "imagegen/internal/picture.TestTruncated"},
	},
	{
		name: "asynchronous failure",
		lines: []string{
			"spec: Generation `status` values that appear",
			"contract: | asynchronous failure |",
			"contract: Generation, always:",
		},
		elsewhere: []string{"imagegen/client.TestOverHTTP"},
	},
	{
		name: "fewer images than asked for, and more",
		lines: []string{
			"spec: Billing: credits are charged before",
			"spec: | usage | object |",
			"spec: 4. When the provider fails or returns fewer images",
			"contract: | fewer images than asked |",
			"contract: One rule above all: **nothing that a caller asked for is silently dropped",
		},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/engine.TestProviderOutcomes"},
	},
	{
		name: "asynchronous work is tried again",
		lines: []string{
			"contract: | restart | queued work resumes;",
			"contract: | status | `queued` → `processing`",
		},
		elsewhere: []string{"imagegen/engine.TestAttempts"},
	},
	{
		name: "the time limit",
		lines: []string{
			"spec: | Synchronous generation duration |",
			"contract: | synchronous failure (provider error",
			"contract: | time | 800 s cover",
		},
		elsewhere: []string{"imagegen/engine.TestTimeLimit", "imagegen/engine.TestAsynchronousTimeLimit",
			"imagegen/engine.TestWaitForASlotIsBounded", "imagegen/engine.TestQueueIsBounded"},
	},
	{
		name:  "x-should-retry",
		lines: []string{"contract: | `x-should-retry: false` |"},
		run:   checkShouldRetry,
	},
	{
		name: "a fault of the service",
		lines: []string{
			"contract: | outcome unknown (the disk failed under a commit) |",
			"contract: | a fault that is not a generation's |",
			"contract: Errors: one line on standard error",
		},
		elsewhere: []string{"cmd/imagegend/survival.TestFailedCommit", "imagegen/httpapi.TestPanic"},
	},
}

const (
	refusedMessage = "the provider's policy refused this request; the credits were returned; change the prompt or the reference images"
	lastingMessage = "the provider cannot make these images as they are asked for; the credits were returned; change the request"
	failedMessage  = "the images could not be generated; the credits were returned; try again"
)

// failed is a generation that has failed.
func failed(url, prompt, message string) object {
	return with(succeeded(url, 2), object{"status": "failed", "prompt": prompt, "images": []any{},
		"usage": object{"credits": 0, "credits_requested": 2}, "error": object{"message": message,
			"code": "generationFailed"}})
}

// failures are prompts for which the fake provider yields nothing.
var failures = map[string]string{
	"[fake:fail] a fox":                 lastingMessage,
	"[fake:refuse] a fox":               refusedMessage,
	"[fake:panic] a fox":                failedMessage,
	"[fake:corrupt] a fox":              failedMessage,
	"[fake:transient=1] a fox":          failedMessage, // synchronous work is not tried again
	"[fake:delay=30ms] [fake:fail] fox": lastingMessage,
}

func checkSynchronousFailure(t *testing.T, s *service) {
	a := s.account(t, 10)
	for prompt, message := range failures {
		answer := a.post(t, fox(object{"prompt": prompt, "n": 2})).refused(t, http.StatusInternalServerError,
			"generationFailed", message)
		same(t, a.credits(t), 10) // before the answer
		address := answer.header.Get("Location")
		answer.has(t, "Location", pattern(s.url+`/api/v1/generations/gen_\w+`), "Cache-Control", "no-store")
		record := a.get(t, address).is(t, http.StatusOK).object(t)
		same(t, record, failed(s.url, prompt, message))
		is.New(t).Equal(record["id"], path.Base(address))
		moment(t, record["completed_at"])
	}
}

func checkShouldRetry(t *testing.T, s *service) {
	a := s.account(t, 20)
	for i, c := range []struct {
		fields object
		status int
	}{
		{object{}, http.StatusOK},
		{object{"async": true}, http.StatusAccepted},
		{object{"prompt": "[fake:fail]"}, http.StatusInternalServerError},
		{object{"prompt": "[fake:images=1]", "n": 2}, http.StatusOK},
	} {
		a.post(t, fox(c.fields)).is(t, c.status).has(t, "X-Should-Retry", "false")
		a.post(t, fox(c.fields), "Idempotency-Key", string(rune('a'+i))).is(t, c.status).has(t, "X-Should-Retry", "")
	}
	a.post(t, fox(object{"n": 0})).is(t, http.StatusBadRequest).has(t, "X-Should-Retry", "")
	a.get(t, "/api/v1/credits").has(t, "X-Should-Retry", "")
}
