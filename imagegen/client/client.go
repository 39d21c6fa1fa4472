// Package client is a client of the service over HTTP. A Client is an [imagegen.Service], so code
// that is written for that interface runs in process and remotely.
//
//	c, err := client.New("https://images.example.com", os.Getenv("IMAGEGEND_API_KEY"), nil)
//	...
//	result, err := c.Generate(ctx, imagegen.GenerateRequest{
//		Model:          "fake-1",
//		Prompt:         "a fox in the snow",
//		IdempotencyKey: rand.Text(), // the same call can then be repeated without a second charge
//	})
//
// Each method makes one HTTP request. Values and errors are those of the service in process, except for
// what the HTTP interface does not transfer: favourites cannot be listed, and GenerateRequest.OnProgress and
// Join have no effect. In addition, Client.Wait waits for the end of a generation as long as necessary.
package client

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Client is the Service of the user to whom an API key belongs. It is safe for concurrent
// use.
//
// If there is no answer, the error is an ErrInternal that wraps the cause. The outcome of a
// Generate is then unknown: repeat the call with the same IdempotencyKey to learn it. The
// client itself repeats nothing. If a connection turns out to be closed, net/http repeats the
// request if that is safe: reads, and a Generate with an IdempotencyKey and without references.
// Redirects are not followed, so that the key is sent nowhere else; except that of an image to where it
// is stored, without the key.
type Client struct {
	base string
	key  string
	http *http.Client
}

var _ imagegen.Service = (*Client)(nil)

// Options configure a Client. nil is the same as the zero value.
type Options struct {
	// HTTP sends the requests; its CheckRedirect is ignored. nil: a client that connects within
	// 10 seconds and waits up to 15 minutes for an answer to begin, without a limit for a whole call.
	HTTP *http.Client
}

// New returns a client of the service at baseURL, such as https://images.example.com, which may have
// a path, but no user, query or fragment. The key may be empty, since OpenImage needs none. New does
// not connect.
func New(baseURL, key string, o *Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		strings.ContainsAny(baseURL, "?#") {
		return nil, errors.New("client: the base URL must be such as https://images.example.com, without user, query and fragment")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("client: the API key has a space, a line break or another character that no key has")
	}
	c := &Client{base: strings.TrimRight(baseURL, "/"), key: key}
	h := http.Client{Transport: patientTransport()}
	if o != nil && o.HTTP != nil {
		h = *o.HTTP
	}
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &h
	return c, nil
}

// patientTransport waits longer for an answer to begin than the 800 seconds that a synchronous
// generation may take.
func patientTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 15 * time.Minute,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   32,
		ForceAttemptHTTP2:     true,
	}
}

// do sends a request with the key to a path below the base URL. It returns the answer, whose body the
// caller closes, or the error that the answer is. The error of ctx comes first, as [imagegen.Service]
// promises. A redirect is an error. A body that can be sent only once waits for the service's consent, at
// most a second with the default transport, so that a refusal costs no upload.
func (c *Client) do(ctx context.Context, method, path string, header http.Header,
	body io.Reader) (*http.Response, error) {
	r, err := newRequest(ctx, method, c.base+path, header, body)
	if err != nil {
		return nil, err
	}
	if body != nil && r.GetBody == nil {
		r.Header.Set("Expect", "100-continue")
	}
	c.identify(r)
	answer, err := c.send(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		defer finish(answer)
		return nil, errorOf(answer)
	}
	return answer, nil
}

func newRequest(ctx context.Context, method, address string, header http.Header,
	body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, unreachable(err)
	}
	maps.Copy(r.Header, header)
	return r, nil
}

// identify adds the key to a request, which must be for the service.
func (c *Client) identify(r *http.Request) {
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
}

// send sends a request as it is, and returns whatever is answered.
func (c *Client) send(r *http.Request) (*http.Response, error) {
	answer, err := c.http.Do(r)
	if err == nil {
		return answer, nil
	}
	if ctxErr := r.Context().Err(); ctxErr != nil {
		return nil, ctxErr
	}
	return nil, unreachable(err)
}

// finish closes the body of an answer. It reads the rest before, if that is short, so that the connection
// can be used again.
func finish(answer *http.Response) {
	io.CopyN(io.Discard, answer.Body, 64<<10)
	answer.Body.Close()
}
