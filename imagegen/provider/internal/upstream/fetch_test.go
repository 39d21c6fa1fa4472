package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

func TestFetch(t *testing.T) {
	is := is.New(t)
	var headers http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers = r.Header
		w.Header().Set("Content-Type", "image/webp")
		io.WriteString(w, "bytes")
	}))
	defer s.Close()
	c := of(t, s.URL)
	body, err := c.Fetch(t.Context(), s.URL+"/a.webp?signature=x")
	is.NoErr(err)
	raw, err := io.ReadAll(body)
	is.NoErr(err)
	is.NoErr(body.Close())
	is.Equal(string(raw), "bytes")
	is.Equal(headers.Get("Authorization"), "")

	body, err = c.Fetch(t.Context(), "data:image/png;base64,Zm94")
	is.NoErr(err)
	raw, err = io.ReadAll(body)
	is.NoErr(err)
	is.Equal(string(raw), "fox")
}

func TestFetchRefuses(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest/secret", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/gone":
			http.Error(w, "gone", http.StatusGone)
		case "/page":
			io.WriteString(w, "<html>")
		case "/huge":
			w.Header().Set("Content-Length", "300000000")
			w.Header().Set("Content-Type", "image/png")
		}
	}))
	defer s.Close()
	for name, address := range map[string]string{
		"a redirect to a link-local address": s.URL + "/metadata",
		"a redirect to a file":               s.URL + "/file",
		"a loop":                             s.URL + "/loop",
		"an image that is gone":              s.URL + "/gone",
		"a page":                             s.URL + "/page",
		"a huge image":                       s.URL + "/huge",
		"no host":                            "http:///a.png",
		"no URL":                             "http://[::1/secret",
		"a relative address":                 "images/secret.png",
		"a password":                         strings.Replace(s.URL, "://", "://user:secret@", 1),
		"nobody there":                       "http://127.0.0.1:1/secret",
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := of(t, s.URL).Fetch(t.Context(), address)
			e, ok := errors.AsType[*imagegen.ProviderError](err)
			is.True(ok)
			is.Equal(e.Class, imagegen.ClassUnknown)
			is.True(!strings.Contains(err.Error(), "secret")) // the address may be a capability
		})
	}
}

// Fetch closes the connection of an answer that it refuses.
func TestFetchClosesRefusedAnswers(t *testing.T) {
	is := is.New(t)
	gone := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusGone)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	defer s.Close()
	_, err := of(t, s.URL).Fetch(t.Context(), s.URL)
	is.True(err != nil)
	select {
	case <-gone:
	case <-time.After(time.Minute):
		s.CloseClientConnections()
		t.Fatal("the connection is still held")
	}
}

// A public upstream can neither name a private address nor redirect to one.
func TestFetchForAPublicUpstream(t *testing.T) {
	is := is.New(t)
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer s.Close()
	c, err := upstream.New(upstream.Options{BaseURL: "https://api.example.com", Key: "secret-key"})
	is.NoErr(err)
	_, err = c.Fetch(t.Context(), s.URL)
	is.True(err != nil && strings.Contains(err.Error(), "not a public address"))
	_, err = c.Fetch(t.Context(), strings.Replace(s.URL, "https", "http", 1))
	is.True(err != nil && strings.Contains(err.Error(), "use https"))
}

// of is a client of a private upstream that a test has started.
func of(t *testing.T, base string, hosts ...string) *upstream.Client {
	t.Helper()
	c, err := upstream.New(upstream.Options{BaseURL: base, Key: "secret-key", Private: true, ImageHosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// An upstream of one's own cannot have this machine ask its other services, neither by the address of an
// image nor by a redirect.
func TestFetchForAPrivateUpstream(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer other.Close()
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusFound)
	}))
	defer own.Close()
	port := own.Listener.Addr().(*net.TCPAddr).Port
	for name, test := range map[string]struct {
		address string
		hosts   []string
	}{
		"another port":                      {other.URL, nil},
		"a redirect to it":                  {own.URL, nil},
		"another name":                      {fmt.Sprintf("http://localhost:%d/", port), nil},
		"the host is named, its port isn't": {other.URL, []string{"127.0.0.1"}},
		"another port is named":             {other.URL, []string{fmt.Sprintf("127.0.0.1:%d", port)}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := of(t, own.URL, test.hosts...).Fetch(t.Context(), test.address)
			is.True(err != nil && strings.Contains(err.Error(), "may come from"))
		})
	}
}

func TestImageHosts(t *testing.T) {
	is := is.New(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://localhost/", http.StatusFound)
	}))
	defer s.Close()
	c := of(t, "http://127.0.0.1:1", s.Listener.Addr().String(), "*.Example.com", "*.example.net:8443", "::1")
	_, err := c.Fetch(t.Context(), s.URL)
	is.True(err != nil && strings.Contains(err.Error(), "may come from")) // the redirect is checked, too
	for address, want := range map[string]bool{
		"http://example.com/":                  false,
		"http://evilexample.com/":              false,
		"http://a.example.com.evil/":           false,
		"http://a.example.com:8080/":           false,
		"https://a.example.net/":               false,
		"file://a.example.com/":                false,
		"https://a.EXAMPLE.com/":               true,
		"https://a.example.com:443/":           true,
		"http://a.b.example.com:80/":           true,
		"https://a.example.net:8443/":          true,
		"http://[::1]/":                        true,
		"http://" + s.Listener.Addr().String(): true,
	} {
		u, err := url.Parse(address)
		is.NoErr(err)
		is.Equal(c.CheckImageURL(u) == nil, want) // address
	}
}

// An image that its address has only after some seconds is not lost: it was paid for.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		late := func(context.Context, string) (io.ReadCloser, error) {
			if time.Since(began) < 3*time.Second {
				return nil, errors.New("the answer was 404")
			}
			return io.NopCloser(strings.NewReader("fox")), nil
		}
		_, err := upstream.Patient(late)(t.Context(), "")
		is.NoErr(err)
		_, err = upstream.Patient(func(context.Context, string) (io.ReadCloser, error) {
			return nil, errors.New("gone")
		})(t.Context(), "")
		is.True(err != nil)
		is.Equal(time.Since(began), 8*time.Second) // five of them for the one that never comes
	})
}
