package conformance_test

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"
)

var hangUpChecks = []check{
	{
		name:      "a caller who hangs up after the charge",
		lines:     []string{"contract: | client hangs up during a synchronous call |"},
		run:       checkHangUpAfterCharge,
		elsewhere: []string{"imagegen/engine.TestCallerWhoHangsUp"},
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

// ask is a request for images to be sent by another goroutine.
func (a *customer) ask(t *testing.T, fields object, header ...string) *http.Request {
	t.Helper()
	return a.request(t, request{method: http.MethodPost, address: generationsPath, key: a.key, body: encode(t, fox(fields)),
		header: append([]string{"Content-Type", "application/json"}, header...)})
}

func checkHangUpAfterCharge(t *testing.T, s *service) {
	s = s.start(t, settings{attemptTimeout: 3 * time.Second})
	for prompt, came := range map[string]int{"[fake:images=1] [fake:hang]": 1, "[fake:hang]": 0} {
		a := s.account(t, 10)
		hangUp := a.abandon(a.ask(t, object{"n": 2, "prompt": prompt}))
		eventually(t, "the call was charged", func() bool { return a.credits(t) == 8 })
		hangUp()
		g := a.ended(t, ids(a.list(t, ""))[0])
		same(t, []any{g["prompt"], g["status"], len(images(g))}, []any{prompt, []string{"failed", "succeeded"}[came], came})
		same(t, a.credits(t), 10-came)
	}
}

// A call that waits for a slot and is given up leaves nothing.
func checkHangUpBeforeCharge(t *testing.T, s *service) {
	s = s.start(t, settings{concurrency: 1, attemptTimeout: 5 * time.Second})
	a, other := s.account(t, 10), s.account(t, 10)
	busy := a.queued(t, object{"prompt": "[fake:hang]"})
	a.reaches(t, busy["id"], "processing")
	written := make(chan struct{})
	q := other.ask(t, nil)
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
