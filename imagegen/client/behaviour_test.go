package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

func TestNewRefuses(t *testing.T) {
	is := is.New(t)
	for _, base := range []string{"", "images.example.com", "ftp://x", "http://", "https://user:canary@x",
		"https://x?a=canary", "https://x#y", "https://x?", "https://x#", "http://[::1", ":"} {
		_, err := client.New(base, "", nil)
		is.True(err != nil && !strings.Contains(err.Error(), "canary"))
	}
	for _, key := range []string{"canary\n", "canary x", "canaryé"} {
		_, err := client.New("https://x", key, nil)
		is.True(err != nil && !strings.Contains(err.Error(), "canary"))
	}
	_, err := client.New("https://images.example.com/prefix/", "", nil)
	is.NoErr(err)
}

// against returns a client of a server made of one handler.
func against(t *testing.T, h http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, "img_live_key", nil)
	is.New(t).NoErr(err)
	return c
}

func isInternal(err error) bool {
	e, ok := errors.AsType[*imagegen.Error](err)
	return ok && e.Code == imagegen.CodeInternal && e.Err != nil
}

// The client refuses what the interface does not offer.
func TestFavouritesAreRefused(t *testing.T) {
	c := against(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	_, err := c.Generations(t.Context(), imagegen.Query{Favourites: true})
	is.New(t).True(errors.Is(err, imagegen.ErrInvalidRequest))
}

// An answer of another service is an error that says so.
func TestAnswersOfAnotherService(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"HTML":        func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") },
		"bad gateway": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) },
		"other JSON": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"no"}`, http.StatusNotFound)
		},
		"nothing": func(http.ResponseWriter, *http.Request) {},
		"null":    func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "null") },
		"an object": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"status":"ok","size":"auto"}`)
		},
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"a`)
		},
		"connection cut": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"other sizes": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"size":"large","data":[{"size":"x"}]}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			c := against(t, h)
			_, err := c.Generate(t.Context(), imagegen.GenerateRequest{Model: "m", Prompt: "p"})
			is.True(isInternal(err))
			_, err = c.Generation(t.Context(), "gen_1")
			is.True(isInternal(err))
			_, err = c.Generations(t.Context(), imagegen.Query{})
			is.True(isInternal(err))
			if name == "other sizes" {
				return // which say nothing about the rest
			}
			_, err = c.Balance(t.Context())
			is.True(isInternal(err))
			_, err = c.Models(t.Context())
			is.True(isInternal(err))
			_, err = c.OpenImage(t.Context(), "image_1")
			is.True(isInternal(err))
		})
	}
}

// A Retry-After counts only if it can be a time.
func TestRetryAfter(t *testing.T) {
	for sent, want := range map[string]time.Duration{"30": 30 * time.Second, "": 0, "-1": 0, "soon": 0,
		"9999999999999": 0} {
		is := is.New(t)
		c := against(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", sent)
			http.Error(w, `{"error":{"message":"later","code":"overloaded"}}`, http.StatusServiceUnavailable)
		})
		_, err := c.Balance(t.Context())
		e, ok := errors.AsType[*imagegen.Error](err)
		is.True(ok)
		is.Equal(e.RetryAfter, want)
	}
}

func TestNoServer(t *testing.T) {
	is := is.New(t)
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c, err := client.New(server.URL, "", nil)
	is.NoErr(err)
	_, err = c.Balance(t.Context())
	is.True(isInternal(err))
}

// The key goes to no other host, not even if the service says so.
func TestRedirectsAreNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	for _, o := range []*client.Options{nil, {}, {HTTP: &http.Client{}}} {
		is := is.New(t)
		c, err := client.New(server.URL, "img_live_key", o)
		is.NoErr(err)
		_, err = c.Balance(t.Context())
		is.True(isInternal(err))
		is.True(strings.Contains(err.Error(), other.URL)) // so that one can tell what is wrong
		_, err = c.Generate(t.Context(), imagegen.GenerateRequest{Model: "m", Prompt: "p",
			References: []imagegen.Reference{blob("x")}})
		is.True(isInternal(err))
	}
}

func TestWithoutKey(t *testing.T) {
	is := is.New(t)
	server := httptest.NewServer(httpapi.NewHandler(imagegentest.Start(t).Engine, httpapi.Options{}))
	defer server.Close()
	c, err := client.New(server.URL+"/", "", nil)
	is.NoErr(err)
	_, err = c.Models(t.Context())
	is.NoErr(err)
	_, err = c.Balance(t.Context())
	is.True(errors.Is(err, imagegen.ErrMissingKey))
}

// The caller's context ends a call at any point, with its own error.
func TestContextEnds(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"before the answer": func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
		"within the answer": func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			io.WriteString(w, `{"model":`)
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			c := against(t, h)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			for _, references := range [][]imagegen.Reference{nil, {blob("x")}} {
				_, err := c.Generate(ctx, imagegen.GenerateRequest{Model: "m", Prompt: "p", References: references})
				is.True(errors.Is(err, context.DeadlineExceeded))
			}
			_, err := c.Balance(ctx)
			is.True(errors.Is(err, context.DeadlineExceeded))
			_, err = c.Wait(ctx, "gen_1")
			is.True(errors.Is(err, context.DeadlineExceeded))
		})
	}
}

// blob is a reference image in memory.
type blob []byte

func (b blob) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b)), nil
}

// opener is a reference image that a test follows.
type opener func() (io.ReadCloser, error)

func (o opener) Open(context.Context) (io.ReadCloser, error) { return o() }

// The second reference is opened when the first has arrived, and closed when it has: nothing is gathered.
func TestReferencesStream(t *testing.T) {
	is := is.New(t)
	arrived, closed := make(chan struct{}), make(chan struct{})
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		parts, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		for {
			part, err := parts.NextPart()
			if err != nil {
				break
			}
			if part.FormName() == "reference_image" && part.FileName() == "reference-1" {
				io.CopyN(io.Discard, part, 1<<20)
				close(arrived)
			}
		}
		http.Error(w, `{"error":{"message":"enough","code":"overloaded"}}`, http.StatusServiceUnavailable)
	})
	_, err := c.Generate(t.Context(), imagegen.GenerateRequest{Model: "m", Prompt: "p",
		References: []imagegen.Reference{
			blob(make([]byte, 1<<20)),
			opener(func() (io.ReadCloser, error) {
				<-arrived
				return noted{strings.NewReader("x"), closed}, nil
			}),
		}})
	is.True(errors.Is(err, imagegen.ErrOverloaded))
	<-closed
}

// file is a reference image with a name.
type file struct {
	blob
	name string
}

func (f file) Name() string { return f.name }

// A reference goes by the name of its file, so that a message about it says which.
func TestReferenceNames(t *testing.T) {
	is := is.New(t)
	var names []string
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			t.Error(err)
			return
		}
		for _, f := range r.MultipartForm.File["reference_image"] {
			names = append(names, f.Filename)
		}
		http.Error(w, `{"error":{"message":"enough","code":"overloaded"}}`, http.StatusServiceUnavailable)
	})
	x := blob("x")
	_, err := c.Generate(t.Context(), imagegen.GenerateRequest{Model: "m", Prompt: "p",
		References: []imagegen.Reference{
			file{x, "secret/place/fox.png"}, x, file{x, ""}, file{x, `a "狐".png`}, file{x, "\xff.png"},
		}})
	is.True(errors.Is(err, imagegen.ErrOverloaded))
	is.Equal(names, []string{"fox.png", "reference-2", "reference-3", `a "狐".png`, "?.png"})
}

type noted struct {
	io.Reader
	closed chan struct{}
}

func (n noted) Close() error { close(n.closed); return nil }

// A refusal comes before the files are sent, or even opened.
func TestRefusalBeforeUpload(t *testing.T) {
	is := is.New(t)
	server := httptest.NewServer(httpapi.NewHandler(imagegentest.Start(t).Engine, httpapi.Options{}))
	defer server.Close()
	c, err := client.New(server.URL, "img_live_nonsense", nil)
	is.NoErr(err)
	_, err = c.Generate(t.Context(), imagegen.GenerateRequest{Model: "m", Prompt: "p", References: []imagegen.Reference{
		opener(func() (io.ReadCloser, error) { t.Error("the file was opened"); return nil, io.EOF }),
	}})
	is.True(errors.Is(err, imagegen.ErrInvalidKey))
}

// One request reads an image; another follows only where one seeks away.
func TestImageRequests(t *testing.T) {
	is := is.New(t)
	var asked []string
	etag := `"1"`
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Range"))
		w.Header().Set("ETag", etag)
		w.Header().Set("Content-Type", "image/png")
		http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader("0123456789"))
	})
	f, err := c.OpenImage(t.Context(), "image_1")
	is.NoErr(err)
	is.Equal(f.Size, int64(10))
	end, err := f.Seek(0, io.SeekEnd) // as http.ServeContent does to learn the size
	is.NoErr(err)
	is.Equal(end, int64(10))
	_, err = f.Seek(0, io.SeekStart)
	is.NoErr(err)
	b, err := io.ReadAll(f)
	is.NoErr(err)
	is.Equal(string(b), "0123456789")
	is.Equal(asked, []string{""})
	_, err = f.Seek(-3, io.SeekCurrent)
	is.NoErr(err)
	b, err = io.ReadAll(f)
	is.NoErr(err)
	is.Equal(string(b), "789")
	is.Equal(asked, []string{"", "bytes=7-"})
	_, err = f.Seek(0, 3)
	is.True(err != nil)

	etag = `"2"` // another image in its place
	_, err = f.Seek(1, io.SeekStart)
	is.NoErr(err)
	_, err = f.Read(make([]byte, 1))
	is.True(isInternal(err))
	is.NoErr(f.Close())
	_, err = f.Read(make([]byte, 1))
	is.True(err != nil)
}

// roundTrip is a transport that answers by itself, so that a test's clock governs it.
type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// Wait has the service wait, and asks one that does not as often as it wants to be asked.
func TestWait(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		limit   time.Duration // of a call
		answers []waited
		prefer  string
		took    time.Duration
	}{
		"it waits": {0, []waited{{"queued", 15 * second, "Preference-Applied", "wait=15"},
			{"succeeded", 3 * second, "Preference-Applied", "wait=15"}}, "wait=15", 18*second + 100*time.Millisecond},
		"calls may not be long": {9 * second, []waited{{"queued", 4 * second, "Preference-Applied", "wait=4"},
			{"failed", 0, "", ""}}, "wait=4", 4*second + 100*time.Millisecond},
		"calls must be short": {second, []waited{{"queued", 0, "", ""}, {"succeeded", 0, "", ""}}, "", 2 * second},
		"it does not wait": {0, []waited{{"queued", 0, "Retry-After", "2"}, {"processing", 0, "Retry-After", "7"},
			{"processing", 0, "", ""}, {"processing", 0, "Retry-After", "0"}, {"succeeded", 0, "", ""}}, "wait=15",
			11*second + 100*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				asked := 0
				s, err := client.New("http://x", "", &client.Options{HTTP: &http.Client{Timeout: c.limit,
					Transport: roundTrip(func(r *http.Request) *http.Response {
						is.Equal(r.Header.Get("Prefer"), c.prefer)
						asked++
						return c.answers[asked-1].answer(r)
					})}})
				is.NoErr(err)
				began := time.Now()
				g, err := s.Wait(t.Context(), "gen_1")
				is.NoErr(err)
				is.True(g.Status.Terminal())
				is.Equal(asked, len(c.answers))
				is.Equal(time.Since(began), c.took)
			})
		})
	}
}

// waited is what a service answers of a generation after a while, with a field in the header.
type waited struct {
	status      string
	after       time.Duration
	name, value string
}

func (w waited) answer(r *http.Request) *http.Response {
	time.Sleep(w.after)
	h := http.Header{}
	if w.name != "" {
		h.Set(w.name, w.value)
	}
	body := fmt.Sprintf(`{"object":"image_generation","id":"gen_1","status":%q,"size":"auto"}`, w.status)
	return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}
