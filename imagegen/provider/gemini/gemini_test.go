package gemini_test

import (
	_ "image/png"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/gemini"
	"github.com/imagegend/imagegend/imagegen/provider/gemini/internal/geminitest"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// serve starts an upstream and returns a provider for it.
func serve(t *testing.T, upstream http.Handler, change func(*gemini.Config)) *gemini.Provider {
	t.Helper()
	return upstreamtest.Serve(t, upstream, func(address string) gemini.Config {
		return gemini.Config{APIKey: geminitest.Key, BaseURL: address + "/v1beta", Private: true}
	}, change, gemini.New)
}

func TestProvider(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New:       func(t *testing.T) imagegen.Provider { return serve(t, &geminitest.Server{}, nil) },
		Answering: func(t *testing.T, h http.Handler) imagegen.Provider { return serve(t, h, nil) },
		Endless:   geminitest.Endless,
		Sample:    true,
	})
}

// Sizes that a model does not make can be taken out of those of its generation.
func TestSizesOfAGeneration(t *testing.T) {
	is := is.New(t)
	p := serve(t, &geminitest.Server{}, func(c *gemini.Config) {
		c.Sizes = gemini.Gemini3()
		delete(c.Sizes, "21:9")
	})
	is.Equal(p.Capabilities().Ratios, []imagegen.Ratio{"auto", "1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "5:4",
		"4:5"})
}

// Every ratio in every tier comes back as itself.
func TestEveryRatioInEveryTier(t *testing.T) {
	d := &geminitest.Server{}
	p := serve(t, d, nil)
	ratios := p.Capabilities().Ratios
	is.New(t).Equal(ratios, []imagegen.Ratio{"auto", "1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "5:4", "4:5",
		"21:9"})
	for _, ratio := range ratios {
		for _, tier := range imagegen.Tiers() {
			is := is.New(t)
			r := providertest.Request("a fox", 1)
			r.Ratio, r.Tier = ratio, tier
			is.NoErr(imagegen.CheckRequest(p, r))
			before := len(d.Requests())
			sizes, err := providertest.Collect(t.Context(), p, r)
			is.NoErr(err)
			is.Equal(imagegen.TierOf(sizes[0].Area()), tier)
			asked := d.Requests()[before].GenerationConfig.ImageConfig
			is.Equal(asked.ImageSize, string(tier))
			if ratio != imagegen.RatioAuto {
				is.Equal(imagegen.NearestRatio(sizes[0], imagegen.Ratios()), ratio)
				is.Equal(asked.AspectRatio, string(ratio))
			} else {
				is.Equal(asked.AspectRatio, "")
			}
		}
	}
}

func TestExplicitSizes(t *testing.T) {
	d := &geminitest.Server{}
	p := serve(t, d, nil)
	for asked, sent := range map[string]string{
		"1024x1024": "1:1 1K",
		"1025x1025": "1:1 2K",
		"64x64":     "1:1 1K",
		"1376x768":  "16:9 1K",
		"1920x1080": "16:9 2K",
		"3840x2160": "16:9 4K",
		"1000x820":  "5:4 1K", // cropped
	} {
		t.Run(asked, func(t *testing.T) {
			is := is.New(t)
			before := len(d.Requests())
			r := providertest.Explicit(t, p, asked)
			is.NoErr(imagegen.CheckRequest(p, r))
			_, err := providertest.Collect(t.Context(), p, r)
			is.NoErr(err)
			got := d.Requests()[before].GenerationConfig.ImageConfig
			is.Equal(got.AspectRatio+" "+got.ImageSize, sent)
		})
	}
	for _, asked := range []string{"8192x8192", "4097x4097", "6400x3600"} {
		is.New(t).Equal(providertest.Error(t, imagegen.CheckRequest(p, providertest.Explicit(t, p, asked))).Class,
			imagegen.ClassInvalid)
	}
}

func TestModelOfOneTier(t *testing.T) {
	is := is.New(t)
	d := &geminitest.Server{}
	p := serve(t, d, func(c *gemini.Config) {
		c.Sizes = gemini.Sizes{"16:9": {Width: 1344, Height: 768}, "1:1": {Width: 1024, Height: 1024},
			"4:3": {Width: 1184, Height: 864}}
		c.Tiers, c.MaxReferences = []imagegen.Tier{imagegen.Tier1K}, -1
	})
	can := p.Capabilities()
	is.Equal(can.Ratios, []imagegen.Ratio{"auto", "1:1", "16:9"}) // 4:3 is off by more than 2 %
	is.Equal(can.MaxReferences, 0)
	r := providertest.Request("a fox", 1)
	r.Ratio = "16:9"
	_, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(d.Requests()[0].GenerationConfig.ImageConfig.ImageSize, "") // it takes none
	r.Tier = "2K"
	is.True(imagegen.CheckRequest(p, r) != nil)
}

func TestReferencesAreSent(t *testing.T) {
	is := is.New(t)
	d := &geminitest.Server{}
	p := serve(t, d, nil)
	r := providertest.Request("as a comic", 2)
	var sent []string
	for mediaType, head := range map[string]string{"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff"} {
		raw := head + strings.Repeat("\x00", 30_000)
		sent = append(sent, raw)
		r.References = append(r.References, providertest.Reference(mediaType, raw, 0, 0))
	}
	sizes, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(len(sizes), 2)
	is.Equal(len(d.Requests()), 2) // one for each image
	for _, q := range d.Requests() {
		is.Equal(q.GenerationConfig.ResponseModalities, []string{"IMAGE"})
		is.Equal(q.Contents[0].Parts[0].Text, "as a comic")
		for i, raw := range sent {
			is.True(string(q.Contents[0].Parts[i+1].InlineData.Data) == raw)
		}
	}
}

func TestErrorsHaveAClass(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		class  imagegen.Class
		retry  time.Duration
	}{
		"rate limited": {429, `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[
			{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`,
			imagegen.ClassRateLimited, 34500 * time.Millisecond},
		"rate limited, no delay": {429, `{"error":{"status":"RESOURCE_EXHAUSTED"}}`, imagegen.ClassRateLimited, 0},
		"invalid": {400, `{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}`,
			imagegen.ClassInvalid, 0},
		"invalid key": {400, `{"error":{"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`,
			imagegen.ClassBlocked, 0},
		"no billing":             {400, `{"error":{"status":"FAILED_PRECONDITION"}}`, imagegen.ClassBlocked, 0},
		"not permitted":          {403, `{"error":{"status":"PERMISSION_DENIED"}}`, imagegen.ClassBlocked, 0},
		"unknown model":          {404, `{"error":{"status":"NOT_FOUND"}}`, imagegen.ClassBlocked, 0},
		"unavailable, a gateway": {503, `{"error":{"status":"UNAVAILABLE"}}`, imagegen.ClassUnknown, 0},
		"timed out":              {504, `{"error":{"status":"DEADLINE_EXCEEDED"}}`, imagegen.ClassUnknown, 0},
		"a page":                 {502, "<html>", imagegen.ClassUnknown, 0},
		"a page with 200":        {200, "<html>", imagegen.ClassUnknown, 0},
		"nothing at all":         {200, "{}", imagegen.ClassUnknown, 0},
		"cut short": {200, `{"candidates":[{"content":{"parts":[{"inlineData":{"data":"iVBO`,
			imagegen.ClassUnknown, 0},
		"no image":              {200, `{"candidates":[{"finishReason":"NO_IMAGE"}]}`, imagegen.ClassInvalid, 0},
		"no image for a reason": {200, `{"candidates":[{"finishReason":"IMAGE_OTHER"}]}`, imagegen.ClassInvalid, 0},
		"another reason":        {200, `{"candidates":[{"finishReason":"OTHER"}]}`, imagegen.ClassInvalid, 0},
		"a language":            {200, `{"candidates":[{"finishReason":"LANGUAGE"}]}`, imagegen.ClassInvalid, 0},
		"no reason at all":      {200, `{"candidates":[{"finishReason":"STOP"}]}`, imagegen.ClassUnknown, 0},
		"recitation": {200, `{"candidates":[{"finishReason":"IMAGE_RECITATION"}]}`, imagegen.ClassRefused,
			0},
		"blocked, no reason": {200, `{"promptFeedback":{"blockReason":"OTHER"}}`, imagegen.ClassRefused, 0},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}), nil)
			sizes, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 2))
			is.Equal(len(sizes), 0)
			e := providertest.Error(t, err)
			is.Equal(e.Class, c.class)
			is.Equal(e.RetryAfter, c.retry)
		})
	}
}

func TestModeration(t *testing.T) {
	for prompt, class := range map[string]imagegen.Class{geminitest.Forbidden: imagegen.ClassRefused,
		geminitest.Unsafe: imagegen.ClassRefused, geminitest.Chatty: imagegen.ClassUnknown} {
		is := is.New(t)
		_, err := providertest.Collect(t.Context(), serve(t, &geminitest.Server{}, nil), providertest.Request(prompt,
			1))
		is.Equal(providertest.Error(t, err).Class, class)
	}
}

// One call of four is refused: three images come, then the error.
func TestPartialResultsAreKept(t *testing.T) {
	is := is.New(t)
	var calls atomic.Int64
	p := serve(t, &geminitest.Server{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if calls.Add(1) != 2 {
			return false
		}
		io.WriteString(w, `{"candidates":[{"finishReason":"IMAGE_SAFETY"}]}`)
		return true
	}}, nil)
	sizes, err := providertest.Collect(t.Context(), p, providertest.Request("foxes", 4))
	is.Equal(len(sizes), 3)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassRefused)
}

// One call is one image, though the model may make more.
func TestSurplusIsDropped(t *testing.T) {
	is := is.New(t)
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w,
			`{"candidates":[{"content":{"parts":[{"inlineData":{"data":"Zm94"}},{"inlineData":{"data":"b3ds"}},`+
				`{"inlineData":{"data":"ZWVs"},"thought":true},{"inlineData":{"data":"YXNw"}}]}}]}`)
	}), nil)
	r := providertest.Request("a fox", 1)
	used := providertest.Used(&r)
	sizes, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(len(sizes), 1)
	is.Equal(used(), imagegen.UpstreamUsage{Surplus: 2}) // a thought does not count
}

func TestProbe(t *testing.T) {
	is := is.New(t)
	is.NoErr(serve(t, &geminitest.Server{}, nil).Probe(t.Context()))
	err := serve(t, &geminitest.Server{}, func(c *gemini.Config) { c.APIKey = "AIza-wrong" }).Probe(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), "the upstream refused the API key"))
	is.True(!strings.Contains(err.Error(), "AIza-wrong"))
	err = serve(t, &geminitest.Server{}, func(c *gemini.Config) { c.Model = "gemini-0" }).Probe(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), `"gemini-0"`))
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]gemini.Config{
		"no key":               {},
		"http":                 {APIKey: "k", BaseURL: "http://api.example.com"},
		"too many references":  {APIKey: "k", MaxReferences: 15},
		"no tiers":             {APIKey: "k", Tiers: []imagegen.Tier{}},
		"an unknown tier":      {APIKey: "k", Tiers: []imagegen.Tier{"8K"}},
		"a size off its ratio": {APIKey: "k", Sizes: gemini.Sizes{"1:1": {Width: 1024, Height: 512}}},
		"a size of 2K":         {APIKey: "k", Sizes: gemini.Sizes{"1:1": {Width: 2048, Height: 2048}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gemini.New(c)
			is.New(t).True(err != nil)
		})
	}
}
