package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

func classOf(err error) imagegen.Class {
	e, ok := errors.AsType[*imagegen.ProviderError](err)
	if !ok {
		return 99
	}
	return e.Class
}

func TestNewRefuses(t *testing.T) {
	for name, o := range map[string]upstream.Options{
		"no base URL":        {},
		"no scheme":          {BaseURL: "api.example.com"},
		"http":               {BaseURL: "http://api.example.com"},
		"another scheme":     {BaseURL: "ftp://api.example.com", Private: true},
		"a password":         {BaseURL: "https://user:hunter2@api.example.com"},
		"a broken address":   {BaseURL: "https://user:hunter2@api.example.com:x/"},
		"a query, http":      {BaseURL: "http://api.example.com?key=hunter2"},
		"a query, scheme":    {BaseURL: "ftp://api.example.com?key=hunter2"},
		"no key":             {BaseURL: "https://api.example.com"},
		"a key with a break": {BaseURL: "https://api.example.com", Key: "hunter2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := upstream.New(o)
			is.True(err != nil)
			is.True(!strings.Contains(err.Error(), "hunter2"))
		})
	}
}

func TestPathsAndHeaders(t *testing.T) {
	is := is.New(t)
	var got *http.Request
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(context.Background())
		io.WriteString(w, `{"a":1}`)
	}, func(o *upstream.Options) {
		o.BaseURL += "/v1/?api-version=7"
		o.Headers = map[string]string{"X-Team": "blue"}
	})
	var out struct{ A int }
	is.NoErr(c.JSON(t.Context(), http.MethodGet, "/models/a%2Fb?x=y", nil, &out))
	is.Equal(out.A, 1)
	is.Equal(got.RequestURI, "/v1/models/a%2Fb?api-version=7&x=y")
	is.Equal(got.Header.Get("Authorization"), "Bearer secret-key")
	is.Equal(got.Header.Get("X-Team"), "blue")
	is.Equal(got.Header.Get("User-Agent"), "imagegend")
}

// Calls that are made at once, again and again, find the connections of the last time.
func TestConnectionsAreKept(t *testing.T) {
	is := is.New(t)
	const calls = 32
	var addresses sync.Map
	var together sync.WaitGroup
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		addresses.Store(r.RemoteAddr, true)
		together.Done()
		together.Wait()
		io.WriteString(w, `{}`)
	}, nil)
	for range 3 {
		together.Add(calls)
		var ended sync.WaitGroup
		errs := make([]error, calls)
		for i := range calls {
			ended.Go(func() { errs[i] = c.JSON(t.Context(), http.MethodGet, "/x", nil, nil) })
		}
		ended.Wait()
		is.NoErr(errors.Join(errs...))
	}
	opened := 0
	addresses.Range(func(any, any) bool { opened++; return true })
	is.Equal(opened, calls)
}

// A call to a port on which nothing listens has begun nothing.
func TestUpstreamThatIsNotThere(t *testing.T) {
	err := of(t, "http://127.0.0.1:1").JSON(t.Context(), http.MethodPost, "/x", 1, nil)
	is.New(t).Equal(classOf(err), imagegen.ClassUnavailable)
}

// The key goes to no host but the upstream's own and those that were named.
func TestKeyStaysAtHome(t *testing.T) {
	is := is.New(t)
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s got the key %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer stranger.Close()
	redirecting := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, stranger.URL, http.StatusTemporaryRedirect)
	}, nil)
	is.True(redirecting.JSON(t.Context(), http.MethodPost, "/x", 1, nil) != nil)
	for _, address := range []string{stranger.URL + "/poll", "https://evil.example/poll", "file:///etc/passwd",
		"https://api.example.com@evil.example/"} {
		err := redirecting.JSON(t.Context(), http.MethodGet, address, nil, nil)
		is.Equal(classOf(err), imagegen.ClassUnknown)
	}
}

// A 503 says that the upstream has too much to do, whatever else it means.
func TestOverloaded(t *testing.T) {
	for status, want := range map[int]bool{http.StatusServiceUnavailable: true, http.StatusInternalServerError: false} {
		for name, classify := range map[string]func(upstream.Failure) *imagegen.ProviderError{"": nil,
			"classified": func(upstream.Failure) *imagegen.ProviderError {
				return &imagegen.ProviderError{Class: imagegen.ClassUnavailable}
			}} {
			t.Run(fmt.Sprint(status, name), func(t *testing.T) {
				is := is.New(t)
				c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Retry-After", "7")
					w.WriteHeader(status)
				}, func(o *upstream.Options) { o.Classify = classify })
				p, ok := errors.AsType[*imagegen.ProviderError](c.JSON(t.Context(), http.MethodGet, "/x", nil, nil))
				is.True(ok)
				is.Equal(p.Overloaded, want)
				is.True(!want || p.RetryAfter == 7*time.Second)
			})
		}
	}
}

func TestAbsoluteAddress(t *testing.T) {
	is := is.New(t)
	var base string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%q", r.URL.Path)
	}, func(o *upstream.Options) { base, o.BaseURL = o.BaseURL, o.BaseURL+"/v1" })
	var path string
	is.NoErr(c.JSON(t.Context(), http.MethodGet, base+"/jobs/7", nil, &path))
	is.Equal(path, "/jobs/7")

	other := serve(t, nil, func(o *upstream.Options) {
		o.BaseURL, o.KeyHosts = "https://api.example.com", []string{"*" + strings.TrimPrefix(base, "http://127")}
	})
	is.NoErr(other.JSON(t.Context(), http.MethodGet, base+"/jobs/8", nil, &path)) // a host of KeyHosts
	is.Equal(path, "/jobs/8")
}

func TestLongAnswer(t *testing.T) {
	is := is.New(t)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `"`)
		io.CopyN(w, letters{}, 5<<20)
		io.WriteString(w, `"`)
	}, nil)
	var s string
	err := c.JSON(t.Context(), http.MethodGet, "/x", nil, &s)
	is.True(err != nil && strings.Contains(err.Error(), "too long"))
}

func TestClassify(t *testing.T) {
	is := is.New(t)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "short and stout, and your key is secret-key")
	}, func(o *upstream.Options) {
		o.Classify = func(f upstream.Failure) *imagegen.ProviderError {
			if f.Status != http.StatusTeapot || strings.Contains(string(f.Body), "secret-key") {
				return nil
			}
			return &imagegen.ProviderError{Class: imagegen.ClassRefused, Message: string(f.Body)}
		}
	})
	err := c.JSON(t.Context(), http.MethodGet, "/x", nil, nil)
	is.Equal(classOf(err), imagegen.ClassRefused)
}

func TestContextEndsARequest(t *testing.T) {
	is := is.New(t)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, nil)
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, late)
	defer cancel()
	is.True(errors.Is(c.JSON(ctx, http.MethodGet, "/x", nil, nil), late))
}

// The error of an answer without a body is a whole sentence.
func TestStatusAlone(t *testing.T) {
	is.New(t).Equal((&upstream.StatusError{Status: 401}).Error(), "the upstream answered 401 and said nothing")
}

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "-1": 0, "soon": 0, "99999999999": 0,
		"Mon, 02 Jan 2006 15:04:05 GMT": 0,
	} {
		is.New(t).Equal(upstream.RetryAfter(http.Header{"Retry-After": {value}}), want)
	}
	date := http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}
	got := upstream.RetryAfter(date)
	is.New(t).True(got > 59*time.Minute && got <= time.Hour)
}

func TestExcerpt(t *testing.T) {
	is := is.New(t)
	is.Equal(upstream.Excerpt([]byte("<html>\n\t<b>Bad\x00\x1b[31m gateway\xff</b>")),
		"<html> <b>Bad [31m gateway </b>")
	is.Equal(len([]rune(upstream.Excerpt([]byte(strings.Repeat("ä ", 1000))))), 301)
}

// The body of a switch to another protocol is the bare connection, which no context ends.
func TestUpstreamThatSwitchesProtocols(t *testing.T) {
	is := is.New(t)
	left := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
		conn.SetReadDeadline(time.Now().Add(10 * time.Second)) // instead of a test that hangs
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Error("the connection stays open:", err)
		}
		conn.Close()
		close(left)
	}, nil)
	_, err := c.Do(t.Context(), http.MethodPost, "/generations", nil)
	is.Equal(classOf(err), imagegen.ClassUnknown)
	<-left
}
