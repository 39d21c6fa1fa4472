package oidc

import (
	"net/http"
	"strings"
	"time"
)

// Bounds on an answer of the provider.
const (
	answerTime  = 15 * time.Second
	answerBytes = 1 << 20
)

// transport is how the provider is asked. The issuer is an operator's choice and may be in a private network. Other
// hosts are the issuer's choice, by its description or a redirect, and must be public.
type transport struct {
	issuer           string // name of its host
	private, foreign http.RoundTripper
}

// RoundTrip implements [http.RoundTripper]. Reading more than answerBytes of the answer is an error.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	to := t.foreign
	if strings.EqualFold(r.URL.Hostname(), t.issuer) {
		to = t.private
	}
	answer, err := to.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, answerBytes)
	}
	return answer, err
}
