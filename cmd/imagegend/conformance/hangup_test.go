package conformance_test

import (
	"context"
	"net/http"
	"testing"
)

var hangUpChecks = []check{
	{
		name:      "a caller who hangs up after the charge",
		lines:     []string{"contract: | client hangs up during a synchronous call |"},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/engine.TestCallerWhoHangsUp"},
	},
	{
		name:      "a caller who hangs up before the charge",
		lines:     []string{"contract: | client hangs up during a synchronous call |"},
		elsewhere: []string{"imagegen/httpapi.TestHangUpInTheQueue"},
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
	return a.request(t, request{method: http.MethodPost, address: generationsPath, key: a.key,
		body: encode(t, fox(fields)), header: append([]string{"Content-Type", "application/json"}, header...)})
}
