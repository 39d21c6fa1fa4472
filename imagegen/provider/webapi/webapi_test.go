package webapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
	"github.com/imagegend/imagegend/imagegen/provider/webapi"
)

const key = "web-key-0123456789"

// config is what every test starts from.
func config(address string) webapi.Config {
	return webapi.Config{APIKey: key, BaseURL: address, Private: true, Path: "/draw",
		Template: provider.Template{MaxReferences: 3, MaxPerCall: 2,
			Input: map[string]any{"prompt": "{{prompt}}", "n": "{{n}}", "ratio": "{{ratio}}",
				"pictures": []any{map[string]any{"kind": "image", "url": "{{each_reference}}"}}},
			Sizes: []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 1280, Height: 720}}},
		Images: []string{"data[].b64", "data[].url", "picture"}, Errors: []string{"error.message", "error.code",
			"data[].reason"}, Refusals: []string{"Moderation", "unsafe"}}
}

// serve starts an API and returns a provider for it.
func serve(t *testing.T, h http.HandlerFunc, change func(*webapi.Config)) *webapi.Provider {
	t.Helper()
	return upstreamtest.Serve(t, h, config, change, webapi.New)
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		io.WriteString(w, strings.ReplaceAll(body, "HOST", r.Host))
	}
}

func request(n int, references ...imagegen.ProviderReference) imagegen.ProviderRequest {
	return imagegen.ProviderRequest{Key: "gen_1", Prompt: `a "fox" {{n}}`, N: n, Ratio: "16:9", Tier: "1K",
		Quality: "high", References: references}
}

func TestJSONIsSent(t *testing.T) {
	is := is.New(t)
	var got map[string]any
	var header http.Header
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		is.Equal(r.Method+" "+r.URL.Path, "POST /draw")
		is.NoErr(json.NewDecoder(r.Body).Decode(&got))
		io.WriteString(w, `{"picture":"Zm94"}`)
	}, func(c *webapi.Config) {
		c.Headers, c.KeyHeader, c.KeyPrefix = map[string]string{"X-Title": "us"}, "X-Key", "Key "
		c.RatioNames = map[imagegen.Ratio]string{"16:9": "16x9"}
	})
	images, err := providertest.Read(t.Context(), p, request(1, providertest.Reference("image/png", "fox", 10, 10),
		providertest.Reference("image/webp", "owl", 10, 10)))
	is.NoErr(err)
	is.Equal(images, []string{"fox"})
	want := map[string]any{"prompt": `a "fox" {{n}}`, "n": 1.0, "ratio": "16x9", "pictures": []any{
		map[string]any{"kind": "image", "url": "data:image/png;base64,Zm94"}, map[string]any{"kind": "image",
			"url": "data:image/webp;base64,b3ds"}}}
	is.Equal(cmp.Diff(want, got), "")
	is.Equal([]string{header.Get("X-Key"), header.Get("Authorization"), header.Get("X-Title")},
		[]string{"Key " + key, "", "us"})

	got = nil
	_, err = providertest.Read(t.Context(), p, request(1))
	is.NoErr(err)
	delete(want, "pictures") // not an empty list
	is.Equal(cmp.Diff(want, got), "")
}

func TestFormIsSent(t *testing.T) {
	is := is.New(t)
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		is.Equal(r.URL.Path, "/edit")
		is.True(r.ContentLength > 0) // it is known before
		is.NoErr(r.ParseMultipartForm(1 << 20))
		is.Equal(cmp.Diff(map[string][]string{"prompt": {`a "fox" {{n}}`}, "n": {"1"}, "ratio": {"16:9"},
			"raw": {"true"}, "tags": {"a", "2"}}, map[string][]string(r.MultipartForm.Value)), "")
		var files []string
		for _, f := range r.MultipartForm.File["image"] {
			opened, err := f.Open()
			is.NoErr(err)
			raw, err := io.ReadAll(opened)
			is.NoErr(err)
			kind, _, err := mime.ParseMediaType(f.Header.Get("Content-Type"))
			is.NoErr(err)
			files = append(files, fmt.Sprintf("%s %s %s", f.Filename, kind, raw))
		}
		is.Equal(files, []string{"reference-1.png image/png fox", "reference-2.webp image/webp owl"})
		io.WriteString(w, `{"picture":"Zm94"}`)
	}, func(c *webapi.Config) {
		c.Form, c.EditPath = webapi.FormEdits, "/edit"
		c.EditInput = map[string]any{"prompt": "{{prompt}}", "n": "{{n}}", "ratio": "{{ratio}}", "raw": true,
			"tags": []any{"a", 2}, "image": "{{references}}"}
		delete(c.Input, "pictures")
	})
	_, err := providertest.Read(t.Context(), p, request(1, providertest.Reference("image/png", "fox", 10, 10),
		providertest.Reference("image/webp", "owl", 10, 10)))
	is.NoErr(err)
}

// A reference is stored once for all calls, and what cannot be stored costs nothing.
func TestReferencesAreStoredFirst(t *testing.T) {
	is := is.New(t)
	var mu sync.Mutex
	var stored []string
	var drawn []any
	status, broken := http.StatusOK, ""
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/files" {
			file, header, err := r.FormFile("upload")
			is.NoErr(err)
			raw, err := io.ReadAll(file)
			is.NoErr(err)
			stored = append(stored, header.Header.Get("Content-Type")+" "+string(raw))
			w.WriteHeader(status)
			if broken != "" {
				io.WriteString(w, broken)
				return
			}
			fmt.Fprintf(w, `{"code":"done","data":{"url":"store://%d"}}`, len(stored))
			return
		}
		var got map[string]any
		is.NoErr(json.NewDecoder(r.Body).Decode(&got))
		drawn = append(drawn, got["pictures"])
		io.WriteString(w, `{"data":[{"b64":"Zm94"},{"b64":"Zm94"}]}`)
	}, func(c *webapi.Config) { c.Upload = webapi.Upload{Path: "/files", Field: "upload", Address: "data.url"} })
	references := []imagegen.ProviderReference{providertest.Reference("image/png", "fox", 10, 10),
		providertest.Reference("image/webp", "owl", 10, 10)}
	images, err := providertest.Read(t.Context(), p, request(4, references...))
	is.NoErr(err)
	is.Equal(len(images), 4)
	is.Equal(stored, []string{"image/png fox", "image/webp owl"})
	sent := []any{map[string]any{"kind": "image", "url": "store://1"}, map[string]any{"kind": "image",
		"url": "store://2"}}
	is.Equal(cmp.Diff([]any{sent, sent}, drawn), "")

	status = http.StatusBadGateway
	_, err = providertest.Read(t.Context(), p, request(1, references...))
	is.Equal(classOf(err), int(imagegen.ClassUnavailable)) // another may be asked
	is.Equal(len(drawn), 2)

	status = http.StatusOK
	for _, broken = range []string{`{"data":{"url":"https://exam`, `{"data":{"url":"\x"}}`, `{"data":{"ur`, `{}`} {
		_, err = providertest.Read(t.Context(), p, request(1, references...))
		is.Equal(classOf(err), int(imagegen.ClassUnavailable))
	}
	is.Equal(len(drawn), 2)
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		images []string
		class  int // -1: no error
		says   string
	}{
		"bytes":     {`{"data":[{"b64":"data:,Zm94"},{"b64":"data:,b3ds"}]}`, []string{"fox", "owl"}, -1, ""},
		"data URLs": {`{"picture":"data:image/png;base64,Zm94"}`, []string{"fox"}, -1, ""},
		"addresses": {`{"data":[{"url":"http://HOST/files/fox"},{"url":"http://HOST/files/owl"}]}`,
			[]string{"fox", "owl"}, -1, ""},
		"both ways": {
			`{"data":[{"url":"http://HOST/gone","b64":"data:,Zm94"},{"url":"http://HOST/files/owl","b64":""}]}`,
			[]string{"fox", "owl"}, -1, ""},
		"after another list": {`{"picture":"http://HOST/gone","sizes":["1","2"],"data":[{"b64":"data:,Zm94"}]}`,
			[]string{"fox"}, -1, ""},
		"a list in between": {`{"a":{"url":"http://HOST/gone","tags":["x","y"],"b64":"data:,Zm94"}}`, []string{"fox"},
			-1, ""},
		"in inner lists": {`{"data":[{"images":[{"b64":"data:,Zm94"},{"url":"http://HOST/files/owl"}]}]}`,
			[]string{"fox", "owl"}, -1, ""},
		"both in inner lists": {
			`{"data":[{"images":[{"b64":"data:,Zm94"}]},{"images":[{"url":"http://HOST/gone","b64":"data:,b3ds"}]}]}`,
			[]string{"fox", "owl"}, -1, ""},
		"around inner lists": {
			`{"data":[{"url":"http://HOST/gone","images":[{"b64":"data:,Zm94"}]},{"url":"http://HOST/files/owl"}]}`,
			[]string{"fox", "owl"}, -1, ""},
		"lists side by side": {`{"b64s":["data:,Zm94",""],"urls":["http://HOST/gone","http://HOST/files/owl"]}`,
			[]string{"fox", "owl"}, -1, ""},
		"more than asked for": {`{"data":[{"b64":"Zm94"},{"b64":"b3ds"},{"b64":"bWljZQ=="}]}`, []string{"fox", "owl"},
			-1, ""},
		"one cannot be had": {`{"data":[{"url":"http://HOST/gone"},{"url":"http://HOST/files/owl"}]}`,
			[]string{"owl"}, int(imagegen.ClassUnknown), "could not be fetched"},
		"an unsafe one": {`{"data":[{"b64":null,"reason":"Unsafe content"}]}`, nil, int(imagegen.ClassRefused),
			"moderation"},
		"an error with 200": {`{"error":{"message":"out of tune"}}`, nil, int(imagegen.ClassUnknown), "out of tune"},
		"nothing": {`{"data":[]}`, nil, int(imagegen.ClassInvalid),
			"without an image: none stands at data[].b64, data[].url, picture, a.b64"},
		"cut short": {`{"data":[{"b64":"data:,Zm94"},{"b6`, []string{"fox"}, int(imagegen.ClassUnknown),
			"could not be read"},
		"a page": {`<html>`, nil, int(imagegen.ClassUnknown), "could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/draw":
					io.WriteString(w, strings.ReplaceAll(c.answer, "HOST", r.Host))
				case strings.HasPrefix(r.URL.Path, "/files/"):
					is.Equal(r.Header.Get("Authorization"), "") // the key is not for the image's host
					w.Header().Set("Content-Type", "image/png")
					io.WriteString(w, strings.TrimPrefix(r.URL.Path, "/files/"))
				default:
					http.NotFound(w, r)
				}
			}, func(c *webapi.Config) {
				c.Imageless = imagegen.ClassInvalid
				c.Images = append(c.Images, "a.b64", "a.url", "data[].images[].b64", "data[].images[].url", "b64s[]",
					"urls[]")
			})
			images, err := providertest.Read(t.Context(), p, request(2))
			is.Equal(images, c.images)
			is.Equal(classOf(err), c.class)
			is.True(err == nil || strings.Contains(err.Error(), c.says))
			// what was not said is not announced
			is.True(err == nil || !strings.HasSuffix(strings.TrimSpace(err.Error()), ":"))
		})
	}
}

// An image that the answer names is paid for, so one failure does not lose it.
func TestImageIsFetchedAgain(t *testing.T) {
	is := is.New(t)
	fetched := 0
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch fetched++; {
		case r.URL.Path == "/draw":
			fetched = 0
			io.WriteString(w, `{"data":[{"url":"http://`+r.Host+`/files/fox"}]}`)
		case fetched == 1:
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Content-Type", "image/png")
			io.WriteString(w, "fox")
		}
	}, nil)
	images, err := providertest.Read(t.Context(), p, request(1))
	is.NoErr(err)
	is.Equal(images, []string{"fox"})
}

// classOf tells no error, -1, from one of ClassUnknown.
func classOf(err error) int {
	if err == nil {
		return -1
	}
	if e, ok := errors.AsType[*imagegen.ProviderError](err); ok {
		return int(e.Class)
	}
	return int(imagegen.ClassUnknown)
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		class  imagegen.Class
		wait   bool
	}{
		"as everywhere":            {402, `{}`, imagegen.ClassBlocked, false},
		"rate limited":             {429, `{}`, imagegen.ClassRateLimited, true},
		"refused by its status":    {403, `{}`, imagegen.ClassRefused, false},
		"refused by its words":     {400, `{"error":{"code":"moderation_blocked"}}`, imagegen.ClassRefused, false},
		"words elsewhere":          {400, `{"prompt":"a moderation fox"}`, imagegen.ClassInvalid, false},
		"refused, though limited":  {429, `{"error":{"message":"unsafe prompt"}}`, imagegen.ClassRefused, false},
		"unavailable, it says":     {503, `{}`, imagegen.ClassUnavailable, true},
		"unknown, a proxy's words": {502, `<html>moderation`, imagegen.ClassUnknown, false},
		"a lie about 404":          {404, `{}`, imagegen.ClassUnknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := serve(t, says(c.status, c.body), func(c *webapi.Config) {
				c.Statuses = map[int]imagegen.Class{403: imagegen.ClassRefused, 503: imagegen.ClassUnavailable,
					404: imagegen.ClassUnknown}
			})
			_, err := providertest.Read(t.Context(), p, request(1))
			e := providertest.Error(t, err)
			is.Equal(e.Class, c.class)
			is.Equal(e.RetryAfter > 0, c.wait)
			is.True(!strings.Contains(err.Error(), key))
		})
	}
}

func TestProbe(t *testing.T) {
	for name, c := range map[string]struct {
		status      int
		probe       string
		unconfirmed bool
		fine        bool
	}{
		"asked for":        {200, "/ping", false, true},
		"missing":          {404, "/ping", false, false},
		"nothing to ask":   {404, "", true, false},
		"not even refused": {200, "", true, false},
		"a bad key":        {401, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			err := serve(t, says(c.status, `{}`), func(o *webapi.Config) { o.Probe = c.probe }).Probe(t.Context())
			is.Equal(errors.Is(err, provider.ErrUnconfirmed), c.unconfirmed)
			is.Equal(err == nil, c.fine)
		})
	}
}

func TestNewRefuses(t *testing.T) {
	for says, change := range map[string]func(*webapi.Config){
		"the option APIKey is required": func(c *webapi.Config) {
			c.APIKey, c.Private, c.BaseURL = "", false, "https://example.com"
		},
		"the option Path":            func(c *webapi.Config) { c.Path = "draw" },
		"EditPath":                   func(c *webapi.Config) { c.EditPath = "edit" },
		"the option Probe":           func(c *webapi.Config) { c.Probe = "ping" },
		"the option Images is empty": func(c *webapi.Config) { c.Images = nil },
		"where to look for them":     func(c *webapi.Config) { c.Errors = nil },
		"which every error has":      func(c *webapi.Config) { c.Refusals = []string{""} },
		"Statuses holds 200": func(c *webapi.Config) {
			c.Statuses = map[int]imagegen.Class{200: imagegen.ClassRefused}
		},
		"not a name of a header":  func(c *webapi.Config) { c.Headers = map[string]string{"X/Title": "us"} },
		`KeyHeader is "X-Key:"`:   func(c *webapi.Config) { c.KeyHeader = "X-Key:" },
		"the option KeyPrefix":    func(c *webapi.Config) { c.KeyPrefix = "Key\n" },
		"that no header can have": func(c *webapi.Config) { c.Headers = map[string]string{"X-Title": "u\ns"} },
		"Headers holds Host": func(c *webapi.Config) {
			c.Headers = map[string]string{"host": "example.com"}
		},
		"Headers holds X-Key": func(c *webapi.Config) {
			c.KeyHeader, c.Headers = "x-key", map[string]string{"X-Key": "k"}
		},
		"outside a list": func(c *webapi.Config) { c.Input["pictures"] = "{{each_reference}}" },
		"has neither":    func(c *webapi.Config) { delete(c.Input, "pictures") },
		"the option EditInput": func(c *webapi.Config) {
			c.EditInput = map[string]any{"prompt": "{{prompt}}"}
			delete(c.Input, "pictures")
		},
		`path "data[0].b64"`:       func(c *webapi.Config) { c.Images = []string{"data[0].b64"} },
		`path "$.data[].b64"`:      func(c *webapi.Config) { c.Images = []string{"$.data[].b64"} },
		`path "data[*].b64"`:       func(c *webapi.Config) { c.Images = []string{"data[*].b64"} },
		`Errors holds the path ""`: func(c *webapi.Config) { c.Errors = []string{""} },
		`path "data..url"`: func(c *webapi.Config) {
			c.Upload = webapi.Upload{Path: "/files", Address: "data..url"}
		},
		`field "pictures" has`: func(c *webapi.Config) { c.Form = webapi.FormEdits },
		`field "all" has`: func(c *webapi.Config) {
			c.Form, c.Input = webapi.FormAlways, map[string]any{"prompt": "{{prompt}}", "n": "{{n}}",
				"ratio": "{{ratio}}", "all": []any{"{{references}}"}}
		},
		"needs a Path":            func(c *webapi.Config) { c.Upload.Address = "url" },
		"such as /files":          func(c *webapi.Config) { c.Upload = webapi.Upload{Path: "files", Address: "url"} },
		"Input has no {{prompt}}": func(c *webapi.Config) { delete(c.Input, "prompt") },
	} {
		t.Run(says, func(t *testing.T) {
			c := config("http://127.0.0.1:1")
			change(&c)
			_, err := webapi.New(c)
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%v does not say %q", err, says)
			}
		})
	}
}

func TestProvider(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New: func(t *testing.T) imagegen.Provider {
			return serve(t, func(w http.ResponseWriter, r *http.Request) {
				var asked struct{ N int }
				json.NewDecoder(r.Body).Decode(&asked)
				json.NewEncoder(w).
					Encode(map[string]any{"data": slices.Repeat([]any{map[string]any{"b64": upstreamtest.PNG(1024,
						1024)}}, asked.N)})
			}, func(c *webapi.Config) { c.Sizes = c.Sizes[:1] })
		},
		Answering: func(t *testing.T, h http.Handler) imagegen.Provider { return serve(t, h.ServeHTTP, nil) },
	})
}

func TestUsed(t *testing.T) {
	paths := webapi.Usage{Units: "usage.cost", TextInput: "usage.prompt_tokens", ImageInput: "usage.details.images",
		TextOutput: "usage.words", ImageOutput: "data[].tokens", Seconds: "timings.inference"}
	for name, c := range map[string]struct {
		answer string
		want   imagegen.UpstreamUsage
	}{
		"all": {`{"data":[{"b64":"iVBORw==","tokens":100},{"b64":"iVBORw==","tokens":20}],"usage":{"prompt_tokens":9,
			"words":3,"details":{"images":7},"cost":0.0400005},"timings":{"inference":1.25}}`,
			imagegen.UpstreamUsage{TextInput: 9, ImageInput: 7, TextOutput: 3, ImageOutput: 120, Units: 40_001,
				Time: 1250 * time.Millisecond}},
		"before the images": {`{"usage":{"cost":1},"picture":"iVBORw=="}`, imagegen.UpstreamUsage{Units: 1_000_000}},
		"nothing":           {`{"picture":"iVBORw=="}`, imagegen.UpstreamUsage{}},
		"no numbers": {`{"picture":"iVBORw==","usage":{"cost":"1","prompt_tokens":[9],"words":true}}`,
			imagegen.UpstreamUsage{}},
		"absurd": {`{"picture":"iVBORw==","usage":{"cost":-1,"prompt_tokens":1e13},"timings":{"inference":1e10}}`,
			imagegen.UpstreamUsage{}},
		"an error": {`{"error":{"message":"no","code":7},"usage":{"cost":1}}`,
			imagegen.UpstreamUsage{Units: 1_000_000}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := serve(t, says(http.StatusOK, c.answer), func(o *webapi.Config) { o.Usage = paths })
			r := request(strings.Count(c.answer, "iVBORw") + strings.Count(c.answer, `"error"`))
			used, images := providertest.Used(&r), 0
			for _, err := range p.Generate(t.Context(), r) {
				if err == nil {
					images++
				}
				if images == r.N {
					break // as the engine does
				}
			}
			is.Equal(images, strings.Count(c.answer, "iVBORw"))
			is.Equal(used(), c.want)
		})
	}
	is := is.New(t)
	r := request(1)
	used := providertest.Used(&r)
	providertest.Read(t.Context(), serve(t, says(http.StatusOK, "7"), nil), r)
	is.Equal(used(), imagegen.UpstreamUsage{}) // a number at no path
}
