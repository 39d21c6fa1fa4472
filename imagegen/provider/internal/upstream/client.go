package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/guard"
)

const (
	// maxDocument is the most bytes of a JSON answer that is read as a whole, into memory.
	maxDocument = 4 << 20
	// maxAnswer is the most bytes of an answer that is streamed, since it holds images in base64.
	maxAnswer = 2 << 30
)

// Options describe an upstream.
type Options struct {
	// BaseURL is the URL that the paths of requests are appended to; its query is sent with each of them.
	// It must be https, unless Private. Required.
	BaseURL string

	// Key is sent in the header KeyHeader, behind KeyPrefix, to BaseURL's host and to KeyHosts, and nowhere else. "":
	// no key is sent. Without a Token, that is permitted for a Private upstream only.
	Key                  imagegen.Secret
	KeyHeader, KeyPrefix string // if both are empty: "Authorization" and "Bearer "

	// Token returns the secret that is sent in place of Key, for upstreams whose keys expire. If it fails, the
	// request is not made and has Token's error, which must be an *imagegen.ProviderError or the context's
	// cause. It must be safe for concurrent use. nil: Key is sent.
	Token func(context.Context) (imagegen.Secret, error)

	// KeyHosts are further hosts that may receive requests with the key, for upstreams whose answers name absolute
	// URLs to ask at. "*.example.com" stands for every host below example.com. A port other than the default of http
	// or https must be named: "example.com:8443".
	KeyHosts []string

	// Headers are sent with every request but those for images. The user agent and the key are set after them.
	Headers map[string]string

	// ImageHosts are the only hosts that images are fetched from, written as in KeyHosts. nil: any public host, but
	// only BaseURL's, at its port, if the upstream is Private.
	ImageHosts []string

	// Private permits http, and loopback and private addresses, for an upstream that the operator runs.
	Private bool

	// Classify says what an answer other than 2xx means. It must be safe for concurrent use. If it is nil
	// or returns nil, Failure.Error decides.
	Classify func(Failure) *imagegen.ProviderError
}

// Client talks to one upstream. It is safe for concurrent use. It keeps up to 64 idle connections to each host, each
// for up to half a minute. Requests with the key follow no redirect, and none use a proxy. Connecting and the TLS
// handshake may take 10 s each; how long an answer may take is up to the caller's context.
type Client struct {
	options Options
	base    *url.URL
	api     *http.Client                    // sends the key and follows no redirect
	images  *http.Client                    // never sends the key; follows redirects that checkRedirect permits
	token   atomic.Pointer[imagegen.Secret] // the one sent last, so that it can be redacted
}

// New returns a client, or an error that says which option is wrong without repeating a secret.
// It opens no connection.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || base.Fragment != "" {
		return nil, fmt.Errorf("base URL %q: want one such as https://api.example.com/v1", shown(base))
	}
	if err := checkScheme(base, o.Private); err != nil {
		return nil, fmt.Errorf("base URL %q: %w", shown(base), err)
	}
	if o.KeyHeader == "" && o.KeyPrefix == "" {
		o.KeyHeader, o.KeyPrefix = "Authorization", "Bearer "
	}
	if o.Key == "" && o.Token == nil && !o.Private {
		return nil, errors.New("the option APIKey is required for an upstream that is not Private")
	}
	if strings.ContainsFunc(o.Key.Reveal(), func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, errors.New("the API key holds a line break or another character that no key has; was it read from a file with more in it?")
	}
	if !IsHeaderName(o.KeyHeader) {
		return nil, fmt.Errorf("the option KeyHeader is %q, which is not a name of a header", o.KeyHeader)
	}
	if strings.ContainsFunc(o.KeyPrefix, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, errors.New("the option KeyPrefix holds a line break or another character that no header can have")
	}
	c := &Client{options: o, base: base}
	transport := guard.Transport(o.Private)
	c.api = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	c.images = &http.Client{Transport: transport, CheckRedirect: c.checkRedirect}
	return c, nil
}

// IsHeaderName reports whether a header can have that name: a token (RFC 9110, section 5.6.2).
func IsHeaderName(name string) bool {
	foreign := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }
	return name != "" && !strings.ContainsFunc(name, foreign)
}

// shown returns the part of a URL that a message may show: neither a password nor a query, which may hold a key.
func shown(u *url.URL) string {
	if u == nil {
		return "…"
	}
	shown := &url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host, Path: u.Path}
	return shown.String()
}

// checkScheme permits https, and http if the upstream is private. The errors tell an operator what to change.
func checkScheme(u *url.URL, private bool) error {
	switch {
	case u.Scheme == "https", u.Scheme == "http" && private:
		return nil
	case u.Scheme == "http":
		return errors.New("http is permitted for private upstreams only; use https or, if it is private, say private: true")
	}
	return fmt.Errorf("scheme %q: use https", u.Scheme)
}

// Do sends a request once and returns the answer if its status is 2xx. The caller closes its body; reading more than
// 2 GiB of it is an error. A path that begins with a slash is appended to the base URL and may carry a query; any
// other must be an absolute URL on the base URL's host or one of KeyHosts. body may be nil; it cannot be sent again.
//
// Every error is a *imagegen.ProviderError, that of Options.Token, or the context's cause if that has ended. It is of
// ClassUnavailable if no connection was made or a reference could not be read, since the upstream then cannot have
// begun. It is of ClassUnknown if a connection was made and no answer came, or if the address is not permitted. For
// an answer other than 2xx it is what Options.Classify or [Failure.Error] says.
func (c *Client) Do(ctx context.Context, method, path string, body *Body) (*http.Response, error) {
	target, err := c.resolve(path)
	if err != nil {
		return nil, err
	}
	var connected atomic.Bool // until then, nothing can have reached the upstream
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected.Store(true)
	}})
	request, err := http.NewRequestWithContext(traced, method, target.String(), nil)
	if err != nil {
		return nil, &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the request could not be built",
			Err: err}
	}
	if err := c.setHeader(ctx, request); err != nil {
		return nil, err
	}
	sent := body.attach(ctx, request)
	response, err := c.api.Do(request)
	if err != nil {
		sent.Close()
		return nil, c.broken(ctx, err, sent, connected.Load())
	}
	response.Body = &answer{Reader: &limited{r: response.Body, left: maxAnswer}, body: response.Body, sent: sent}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusSwitchingProtocols {
		return nil, Broken(ctx, errSwitched) // its body is the bare connection, which no context would end
	}
	return nil, c.failed(response)
}

// errSwitched stands for an answer 101. No request asks for another protocol.
var errSwitched = errors.New("the upstream switched to another protocol without being asked")

// setHeader sets the key last, so that no configured header replaces it.
func (c *Client) setHeader(ctx context.Context, r *http.Request) error {
	for name, value := range c.options.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("User-Agent", userAgent)
	key := c.options.Key
	if c.options.Token != nil {
		var err error
		if key, err = c.options.Token(ctx); err != nil {
			return err
		}
		c.token.Store(&key)
	}
	if key != "" {
		r.Header.Set(c.options.KeyHeader, c.options.KeyPrefix+key.Reveal())
	}
	return nil
}

const userAgent = "imagegend"

// JSON sends in as JSON, unless it is nil, and reads the answer into out, unless that is nil. The answer may have up
// to 4 MiB. Its errors are those of [Document.Body], Do and [Decode].
func (c *Client) JSON(ctx context.Context, method, path string, in, out any) error {
	var body *Body
	if in != nil {
		var err error
		if body, err = new(Document).Body(in); err != nil {
			return err
		}
	}
	return c.Read(ctx, method, path, body, func(answer io.Reader) error { return Decode(ctx, answer, out) })
}

// Read sends a request by Do and has read read the answer, whose body it closes. Its errors are those of both.
func (c *Client) Read(ctx context.Context, method, path string, body *Body, read func(answer io.Reader) error) error {
	response, err := c.Do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return read(response.Body)
}

// Decode reads a JSON answer of up to 4 MiB into out. If out is nil, it reads the answer to its end and
// does not look at it. Its errors are those of [Broken].
func Decode(ctx context.Context, r io.Reader, out any) error {
	raw, err := io.ReadAll(&limited{r: r, left: maxDocument})
	if err == nil && out != nil {
		if err = json.Unmarshal(bytes.TrimPrefix(raw, []byte(byteOrderMark)), out); err != nil {
			err = quoting(r, err)
		}
	}
	if err != nil {
		return Broken(ctx, err)
	}
	return nil
}

// resolve returns the URL of a request. It refuses hosts that must not get the key: path may come from an
// upstream's answer.
func (c *Client) resolve(path string) (*url.URL, error) {
	if strings.HasPrefix(path, "/") {
		name, query, _ := strings.Cut(path, "?")
		u := c.base.JoinPath(name)
		u.RawQuery = strings.Trim(c.base.RawQuery+"&"+query, "&")
		return u, nil
	}
	u, err := url.Parse(path)
	if err != nil {
		return nil, &imagegen.ProviderError{Class: imagegen.ClassUnknown,
			Message: "the upstream names an address that is not a URL"}
	}
	if err := checkScheme(u, c.options.Private); err != nil {
		return nil, &imagegen.ProviderError{Class: imagegen.ClassUnknown,
			Message: "the upstream names an address that cannot be used", Err: err}
	}
	if hostPort(u) != hostPort(c.base) && !matches(u, c.options.KeyHosts) {
		return nil, &imagegen.ProviderError{Class: imagegen.ClassUnknown,
			Message: fmt.Sprintf("the upstream names host %q, which is not one that gets the API key", u.Host)}
	}
	return u, nil
}

// Absolute returns an address that an upstream named, as its answers mean it: one that begins with a slash is on the
// base URL's host. Any other is returned as it is.
func (c *Client) Absolute(address string) string {
	if !strings.HasPrefix(address, "/") {
		return address
	}
	u, err := c.base.Parse(address)
	if err != nil {
		return address
	}
	return u.String()
}

// OnHost reports whether a base URL is on that host. Adapters ask because some promises hold for the official upstream
// only, not for a gateway that speaks the same protocol.
func OnHost(baseURL, host string) bool {
	u, err := url.Parse(baseURL)
	return err == nil && strings.EqualFold(u.Hostname(), host)
}

// hostPort returns the lower-case host and the port of a URL; the scheme's port if it names none.
func hostPort(u *url.URL) string {
	return net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), defaultPort(u)))
}

func defaultPort(u *url.URL) string {
	if u.Scheme == "http" {
		return "80"
	}
	return "443"
}

// matches reports whether a URL leads to one of the patterns, as Options.KeyHosts describes them.
func matches(u *url.URL, patterns []string) bool {
	at := hostPort(u)
	for _, p := range patterns {
		if _, _, err := net.SplitHostPort(p); err != nil {
			p = net.JoinHostPort(strings.Trim(p, "[]"), defaultPort(u))
		}
		p = strings.ToLower(p)
		if suffix, wild := strings.CutPrefix(p, "*"); p == at || wild && len(at) > len(suffix) &&
			strings.HasSuffix(at, suffix) {
			return true
		}
	}
	return false
}

// answer is a response's body. Closing it also closes the request's body, and with that a reference that is still
// open: an upstream may answer before it has received everything.
type answer struct {
	io.Reader
	body  io.Closer
	sent  *sending
	begun []byte // what has been read first, for messages
}

// Read implements io.Reader.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if room := maxQuoted - len(a.begun); room > 0 {
		a.begun = append(a.begun, p[:min(n, room)]...)
	}
	return n, err
}

func (a *answer) Close() error {
	err := a.body.Close()
	a.sent.Close()
	return err
}

// limited fails with errTooLong beyond its limit. io.LimitReader would report an ordinary end,
// and a cut answer would look complete.
type limited struct {
	r    io.Reader
	left int64
}

var errTooLong = errors.New("the answer is too long")

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
