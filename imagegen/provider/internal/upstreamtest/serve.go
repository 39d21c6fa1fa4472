package upstreamtest

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Serve starts an upstream and returns a provider for it. config is the provider's for an address; change, unless it is
// nil, changes it.
func Serve[C, P any](t testing.TB, upstream http.Handler, config func(address string) C, change func(*C),
	open func(C) (P, error)) P {
	t.Helper()
	s := httptest.NewServer(upstream)
	t.Cleanup(s.Close)
	c := config(s.URL)
	if change != nil {
		change(&c)
	}
	p, err := open(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
