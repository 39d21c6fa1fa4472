package daemontest

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// Request is one request to the daemon.
type Request struct {
	Method string // "": GET
	Path   string // or an address that the daemon named
	Key    string // "": no Authorization
	Header map[string]string
	Body   any // nil: none; an io.Reader goes out as it is, all else as JSON
}

// Answer is one answer, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Generate is the request for images with a body of these fields.
func Generate(key string, fields any) Request {
	return Request{Method: http.MethodPost, Path: "/api/v1/images/generations", Key: key, Body: fields}
}

// With returns r with one more header. It does not change r, so requests can be built from a common one.
func (r Request) With(header, value string) Request {
	r.Header = maps.Clone(r.Header)
	if r.Header == nil {
		r.Header = map[string]string{}
	}
	r.Header[header] = value
	return r
}

// newClient returns a client that keeps a connection open for each of many callers. It asks for nothing compressed and
// follows no redirect, so that a test sees what was sent.
func newClient(trust *tls.Config) *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true, TLSClientConfig: trust},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Do sends a request. An error means that no whole answer came.
func (d *Daemon) Do(ctx context.Context, r Request) (Answer, error) {
	request, err := r.http(ctx, d.URL)
	if err != nil {
		return Answer{}, err
	}
	response, err := d.client.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, body}, err
}

// HangUp closes the idle connections of the test to the daemon.
func (d *Daemon) HangUp() { d.client.CloseIdleConnections() }

// Call is Do for a request that must be answered.
func (d *Daemon) Call(r Request) Answer {
	d.tb.Helper()
	answer, err := d.Do(d.tb.Context(), r)
	if err != nil {
		d.tb.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	return answer
}

// http returns the request for net/http. A path that begins with a slash is one of the daemon at base.
func (r Request) http(ctx context.Context, base string) (*http.Request, error) {
	body, ok := r.Body.(io.Reader)
	if !ok && r.Body != nil {
		b, err := json.Marshal(r.Body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	address := r.Path
	if strings.HasPrefix(address, "/") {
		address = base + address
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, address, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.Key != "" {
		request.Header.Set("Authorization", "Bearer "+r.Key)
	}
	for name, value := range r.Header {
		request.Header.Set(name, value)
	}
	return request, nil
}

// Into reads the body as JSON into v. It fails the test if the body is not JSON.
func (a Answer) Into(tb testing.TB, v any) {
	tb.Helper()
	if err := json.Unmarshal(a.Body, v); err != nil {
		tb.Fatalf("status %d, not JSON: %v\n%s", a.Status, err, a.Body)
	}
}

// Code is the error code in the body, "" if there is none.
func (a Answer) Code() string {
	var body struct{ Error struct{ Code string } }
	if json.Unmarshal(a.Body, &body) != nil {
		return ""
	}
	return body.Error.Code
}
