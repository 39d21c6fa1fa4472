package conformance_test

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"
)

var retryChecks = []check{
	{
		name:      "a caller who hangs up after the charge",
		lines:     []string{"contract: | client hangs up during a synchronous call |"},
		run:       checkHangUpAfterCharge,
		elsewhere: []string{"imagegen.TestCallerWhoHangsUp"},
	},
	{
		name:  "a caller who hangs up before the charge",
		lines: []string{"contract: | client hangs up during a synchronous call |"},
		run:   checkHangUpBeforeCharge,
	},
}

// abandon sends a request in the background; hangUp closes the connection and waits until it is closed.
func (s *service) abandon(q *http.Request) (hangUp func()) {
	ctx, cancel := context.WithCancel(q.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.send(q.WithContext(ctx)) // nobody waits for the answer
	}()
	return func() {
		cancel()
		<-ended
	}
}

// slow is a request for images that takes its time.
func (a *account) slow(t *testing.T, prompt string) *http.Request {
	t.Helper()
	return a.request(t, request{method: http.MethodPost, address: generationsPath, key: a.key, body: encode(t, fox(object{"prompt": prompt})),
		header: []string{"Content-Type", "application/json"}})
}

func checkHangUpAfterCharge(t *testing.T, s *service) {
	a := s.account(t, 10)
	for prompt, status := range map[string]string{"[fake:delay=400ms] a fox": "succeeded", "[fake:delay=400ms] [fake:fail]": "failed"} {
		before := a.credits(t).(int)
		hangUp := s.abandon(a.slow(t, prompt))
		eventually(t, "the call was charged", func() bool { return a.credits(t) == before-1 })
		hangUp()
		g := a.get(t, "/api/v1/generations?limit=1").object(t)["data"].([]any)[0].(object)
		ended := a.ended(t, g["id"])
		same(t, []any{ended["prompt"], ended["status"]}, []any{prompt, status})
		same(t, a.credits(t), before-len(ended["images"].([]any)))
	}
}

// A call that waits for a slot and is given up leaves nothing.
func checkHangUpBeforeCharge(t *testing.T, s *service) {
	s = s.start(t, settings{concurrency: 1, slotWait: 20 * time.Second})
	a, other := s.account(t, 10), s.account(t, 10)
	busy := a.queued(t, object{"prompt": "[fake:delay=900ms] a fox"})
	a.reaches(t, busy["id"], "processing")
	written := make(chan struct{})
	q := other.slow(t, "a fox that nobody waits for")
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(written) }}
	hangUp := s.abandon(q.WithContext(httptrace.WithClientTrace(q.Context(), trace)))
	<-written
	for range 10 { // the call is waiting by now, and has taken nothing
		same(t, other.credits(t), 10)
	}
	hangUp()
	a.ended(t, busy["id"])
	a.generated(t, nil) // the slot is free again
	same(t, []any{other.credits(t), other.get(t, "/api/v1/generations").object(t)["data"]}, []any{10, []any{}})
}
