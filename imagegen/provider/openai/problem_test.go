package openai_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/provider/openai/internal/openaitest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

func TestErrorsHaveAClass(t *testing.T) {
	wrap := func(code, kind string) string {
		return fmt.Sprintf(`{"error":{"message":"no","type":%q,"param":null,"code":%s}}`, kind, code)
	}
	page := "<!DOCTYPE html>\n<html>" + strings.Repeat("<p>Bad gateway</p>\n", 10_000)
	for name, c := range map[string]struct {
		status int
		header string // Retry-After, or another with its name
		body   string
		class  imagegen.Class
		retry  time.Duration
	}{
		"rate limited, to the ms": {429, "Retry-After-Ms: 1500", wrap(`"rate_limit_exceeded"`, "requests"),
			imagegen.ClassRateLimited, 1500 * time.Millisecond},
		"of no use": {429, "X-Should-Retry: false", wrap(`null`, "requests"), imagegen.ClassBlocked, 0},
		"rate limited": {429, "7", wrap(`"rate_limit_exceeded"`, "tokens"), imagegen.ClassRateLimited,
			7 * time.Second},
		"rate limited, no body": {429, "", "", imagegen.ClassRateLimited, 0},
		"no quota left": {429, "", wrap(`"insufficient_quota"`, "insufficient_quota"), imagegen.ClassBlocked,
			0},
		"no credits left": {429, "", wrap(`"credit_balance_exhausted"`, "insufficient_quota"),
			imagegen.ClassBlocked, 0},
		"not verified": {403, "",
			`{"error":{"message":"Your organization must be verified to use the model.","type":"invalid_request_error","param":null,"code":null}}`, imagegen.ClassBlocked, 0},
		"no such deployment": {404, "",
			`{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`,
			imagegen.ClassBlocked, 0},
		"model of others": {403, "", wrap(`"model_not_found"`, "invalid_request_error"), imagegen.ClassBlocked,
			0},
		"no such path": {404, "", page, imagegen.ClassBlocked, 0},
		"billing limit": {400, "", wrap(`"billing_hard_limit_reached"`, "image_generation_user_error"),
			imagegen.ClassBlocked, 0},
		"moderation": {400, "", wrap(`"moderation_blocked"`, "image_generation_user_error"),
			imagegen.ClassRefused, 0},
		"moderation of Azure": {400, "", wrap(`"contentFilter"`, ""), imagegen.ClassRefused, 0},
		"account blocked": {403, "", `{"error":{"code":"Forbidden","message":"blocked: content policy"}}`,
			imagegen.ClassBlocked, 0},
		"bad key": {401, "", wrap(`"invalid_api_key"`, "invalid_request_error"), imagegen.ClassBlocked,
			0},
		"bad image": {400, "", wrap(`"invalid_image_file"`, "image_generation_user_error"),
			imagegen.ClassInvalid, 0},
		"a code that is a number": {400, "", wrap(`400`, "bad"), imagegen.ClassInvalid, 0},
		"unknown model": {404, "", wrap(`"model_not_found"`, "invalid_request_error"), imagegen.ClassBlocked,
			0},
		"server error":            {500, "", wrap(`null`, "server_error"), imagegen.ClassUnknown, 0},
		"bad gateway":             {502, "", page, imagegen.ClassUnknown, 0},
		"unavailable by a proxy":  {503, "", page, imagegen.ClassUnknown, 0},
		"unavailable, not OpenAI": {503, "", wrap(`null`, "server_error"), imagegen.ClassUnknown, 0},
		"redirect":                {302, "", "", imagegen.ClassUnknown, 0},
		"error with status 200":   {200, "", wrap(`"moderation_blocked"`, ""), imagegen.ClassRefused, 0},
		"page with status 200":    {200, "", page, imagegen.ClassUnknown, 0},
		"cut short":               {200, "", `{"data":[{"b64_json":"iVBO`, imagegen.ClassUnknown, 0},
		"nothing":                 {200, "", ``, imagegen.ClassUnknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if name, value, other := strings.Cut(c.header, ": "); other {
					w.Header().Set(name, value)
				} else if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				w.Header().Set("Location", "http://192.0.2.1/")
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}), nil)
			images, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 2))
			is.Equal(len(images), 0)
			e := providertest.Error(t, err)
			is.Equal(e.Class, c.class)
			is.Equal(e.RetryAfter, c.retry)
			is.True(len(err.Error()) < 600) // an excerpt
		})
	}
}

func TestMessageOfABadKey(t *testing.T) {
	is := is.New(t)
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(401)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s.","code":"invalid_api_key"}}`,
			r.Header.Get("Authorization"))
	}), nil)
	_, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 1))
	is.True(strings.Contains(err.Error(), "the upstream refused the API key"))
	is.True(!strings.Contains(err.Error(), openaitest.Key)) // though the upstream repeated it
	is.True(strings.Contains(p.Probe(t.Context()).Error(), "the upstream refused the API key"))
}

func TestPrivateAddressIsRefused(t *testing.T) {
	is := is.New(t)
	s := httptest.NewTLSServer(&openaitest.Server{})
	defer s.Close()
	p, err := openai.New(openai.Config{APIKey: openaitest.Key, BaseURL: s.URL})
	is.NoErr(err)
	_, err = providertest.Collect(t.Context(), p, providertest.Request("a fox", 1))
	is.True(err != nil && strings.Contains(err.Error(), "127.0.0.1 is not a public address"))
}

// The images before a break count; the error comes last.
func TestImagesBeforeABreakCount(t *testing.T) {
	is := is.New(t)
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[{"b64_json":"/9j/Zm94"},{"revised_prompt":"x","b64_json":"Zm`)
	}), nil)
	images, err := providertest.Read(t.Context(), p, providertest.Request("a fox", 2))
	is.Equal(images, []string{"\xff\xd8\xfffox"})
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassUnknown)
}

// The first image is there before the second one was sent.
func TestImagesComeAsTheyAreMade(t *testing.T) {
	is := is.New(t)
	first := make(chan struct{})
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[{"b64_json":"/9j/Zm94"}`)
		w.(http.Flusher).Flush()
		select {
		case <-first:
		case <-r.Context().Done():
		}
		io.WriteString(w, `,{"b64_json":"/9j/b3ds"}]}`)
	}), nil)
	var got []string
	for i, err := range p.Generate(t.Context(), providertest.Request("animals", 2)) {
		is.NoErr(err)
		raw, err := io.ReadAll(i.Body)
		is.NoErr(err)
		got = append(got, string(raw))
		if len(got) == 1 {
			close(first)
		}
	}
	is.Equal(got, []string{"\xff\xd8\xfffox", "\xff\xd8\xffowl"})
}

func TestSlowAnswerEndsWithTheContext(t *testing.T) {
	is := is.New(t)
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[{"b64_json":"/9j/Zm94`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}), nil)
	late := errors.New("the time is up")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, late)
	defer cancel()
	images, err := providertest.Collect(ctx, p, providertest.Request("a fox", 1))
	is.Equal(len(images), 0)
	is.True(errors.Is(err, late))
}

// An answer may hold bytes and a link for the same image: it is one image.
func TestLinkBesideBytes(t *testing.T) {
	is := is.New(t)
	var base string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/owl" {
			is.Equal(r.Header.Get("Authorization"), "") // the key is not for the image's host
			w.Header().Set("Content-Type", "image/png")
			io.WriteString(w, "owl")
			return
		}
		fmt.Fprintf(w,
			`{"data":[{"url":"%s/gone","b64_json":"/9j/Zm94"},{"url":"%[1]s/owl","b64_json":null},{"url":"%[1]s/gone"},{"url":"data:image/png;base64,bWljZQ==","b64_json":"bWljZQ=="}]}`, base)
	}))
	defer s.Close()
	base = s.URL
	p, err := openai.New(openai.Config{APIKey: openaitest.Key, BaseURL: s.URL, Private: true})
	is.NoErr(err)
	images, err := providertest.Read(t.Context(), p, providertest.Request("animals", 4))
	is.Equal(images, []string{"\xff\xd8\xfffox", "mice", "owl"})      // those inside come first
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassUnknown) // of the one that could not be fetched
}

// A paid image is not lost because of the form in which it comes.
func TestFormsOfImages(t *testing.T) {
	large := strings.Repeat("fox", 100_000)
	encoded := base64.StdEncoding.EncodeToString([]byte(large))
	for name, c := range map[string]struct{ answer, want string }{
		"a large data URL":         {`{"data":[{"url":"data:image/png;base64,` + encoded + `"}]}`, large},
		"a data URL as b64_json":   {`{"data":[{"b64_json":"data:image/png;base64,` + encoded + `"}]}`, large},
		"base64 as url":            {`{"data":[{"url":"Zm94"}]}`, "fox"},
		"a JPEG's base64":          {`{"data":[{"b64_json":"/9j/Zm94"}]}`, "\xff\xd8\xfffox"},
		"base64 for URLs":          {`{"data":[{"b64_json":"-_-_"}]}`, "\xfb\xff\xbf"},
		"without padding":          {`{"data":[{"b64_json":"Zm94ZX"}]}`, "foxe"},
		"behind a byte order mark": {"\ufeff" + `{"data":[{"b64_json":"Zm94"}]}`, "fox"},
		"a relative address":       {`{"data":[{"url":"/files/a.png"}]}`, "a file"},
		"an address without host":  {`{"data":[{"url":"//HOST/files/a.png"}]}`, "a file"},
		"an image beside a word":   {`{"data":[{"url":"None","b64_json":"iVBORw=="}]}`, "\x89PNG"},
		"an error beside a link":   {`{"data":[{"url":"/files/a.png"}],"error":"deprecated"}`, "a file"},
		"an address as b64_json":   {`{"data":[{"b64_json":"http://HOST/files/a.png"}]}`, "a file"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/files/a.png" {
					w.Header().Set("Content-Type", "image/png")
					io.WriteString(w, "a file")
					return
				}
				io.WriteString(w, strings.ReplaceAll(c.answer, "HOST", r.Host))
			}), nil)
			images, err := providertest.Read(t.Context(), p, providertest.Request("a fox", 1))
			is.NoErr(err)
			is.Equal(len(images), 1)
			is.True(images[0] == c.want)
		})
	}
	is := is.New(t)
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[{"url":"https://example.com/`+strings.Repeat("x", 70_000)+`"}]}`)
	}), nil)
	_, err := providertest.Read(t.Context(), p, providertest.Request("a fox", 1))
	is.True(strings.Contains(err.Error(), "longer than 65536 bytes")) // and is not cut to an address that nobody named
}

// An answer that names more images than were asked for does not have them all kept, or fetched.
func TestMoreLinksThanAskedFor(t *testing.T) {
	is := is.New(t)
	const allowed = 2 * 5 // each is tried five times
	var fetched atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if fetched.Add(1) > allowed {
				cancel() // the others would take minutes
			}
			http.NotFound(w, r)
			return
		}
		link := `{"url":"http://` + r.Host + `/a.png"}`
		io.WriteString(w, `{"data":[`+link+strings.Repeat(","+link, 99)+`]}`)
	}), nil)
	r := providertest.Request("a fox", 2)
	used := providertest.Used(&r)
	images, err := providertest.Collect(ctx, p, r)
	is.Equal(used(), imagegen.UpstreamUsage{Surplus: 98})
	is.Equal(len(images), 0)
	is.True(err != nil)
	is.Equal(fetched.Load(), int64(allowed))
}
