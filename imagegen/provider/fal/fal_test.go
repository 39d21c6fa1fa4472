package fal_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/fal"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted/hostedtest"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// fox is a model that takes any size in the usual fields.
func fox(address string) fal.Config {
	return fal.Config{APIKey: key, BaseURL: address, PlatformURL: address + "/platform", Private: true,
		PollInterval: time.Millisecond, Model: "acme/fox", EditModel: "acme/fox/edit",
		Template: provider.Template{MaxReferences: 8,
			SizeRules: imagegen.SizeRules{Step: 16, MinEdge: 256, MaxEdge: 4096, MaxPixels: 2048 * 2048, MaxAspect: 3}}}
}

// serve starts an upstream and returns a provider for it.
func serve(t *testing.T, upstream http.Handler, change func(*fal.Config)) *fal.Provider {
	t.Helper()
	return upstreamtest.Serve(t, upstream, fox, change, fal.New)
}

func TestProvider(t *testing.T) {
	hostedtest.Suite{
		Double: double,
		New: func(address string, interval time.Duration) (imagegen.Provider, error) {
			c := fox(address)
			c.PollInterval = interval
			return fal.New(c)
		},
		Pending: `{"status":"IN_PROGRESS"}`,
		Last:    isResponse,
		Used:    imagegen.UpstreamUsage{Units: 1_500_000},
		Refused: imagegen.UpstreamUsage{Units: 250_000},
		Submissions: map[string]hostedtest.Failure{
			"rate limited": {Status: 429, Retry: "30", Body: `{"detail":"Too many requests"}`,
				Class: imagegen.ClassRateLimited, After: 30 * time.Second},
			"no balance": {Status: 403, Body: `{"detail":"User is locked. Reason: Exhausted balance."}`,
				Class: imagegen.ClassBlocked},
			"bad key": {Status: 401, Body: `{"detail":"Authentication is required"}`,
				Class: imagegen.ClassBlocked},
			"no model": {Status: 404, Body: `{"detail":"Application not found"}`, Class: imagegen.ClassBlocked},
			"bad input": {Status: 422, Body: `{"detail":[{"loc":["body","seed"],"msg":"no","type":"int_parsing"}]}`,
				Class: imagegen.ClassInvalid},
			"malformed": {Status: 400, Body: `{"detail":"bad header","error_type":"bad_request"}`,
				Class: imagegen.ClassInvalid},
			"cut short":    {Status: 200, Body: `{"request_id":"1","status_`},
			"no addresses": {Status: 200, Body: `{"request_id":"1","status":"IN_QUEUE"}`},
			"one address":  {Status: 200, Body: `{"request_id":"1","status_url":"http://192.0.2.1/"}`},
		},
		Ends: map[string]hostedtest.Failure{
			"refused": {Status: 422,
				Body:  `{"detail":[{"loc":["body"],"msg":"no","type":"content_policy_violation"}]}`,
				Class: imagegen.ClassRefused, Says: "moderation"},
			"refused, among": {Status: 422,
				Body:  `{"detail":[{"type":"value_error"},{"type":"content_policy_violation"}]}`,
				Class: imagegen.ClassRefused, Says: "moderation"},
			"bad input": {Status: 422,
				Body:  `{"detail":[{"loc":["body","seed"],"msg":"no","type":"int_parsing"}]}`,
				Class: imagegen.ClassInvalid, Says: "int_parsing"},
			"no runner": {Status: 503, Body: `{"detail":"none","error_type":"runner_scheduling_failure"}`,
				Class: imagegen.ClassUnavailable, Says: "no runner"},
			"took too long": {Status: 504, Body: `{"detail":"Request timed out","error_type":"request_timeout"}`,
				Says: "request_timeout"},
			// the request was taken in
			"key withdrawn": {Status: 403, Body: `{"detail":"no","error_type":"forbidden"}`, Says: "forbidden"},
			"cancelled": {Status: 499, Body: `{"detail":"cancelled","error_type":"client_cancelled"}`,
				Says: "client_cancelled"},
			"the model broke": {Status: 500, Body: `{"detail":[{"type":"internal_server_error","msg":"oops"}]}`,
				Says: "internal_server_error"},
			"kept no longer": {Status: 404, Body: `{"detail":"Request not found"}`, Says: "no longer knows"},
			"no image":       {Status: 200, Body: `{"images":[],"seed":1}`, Says: "no image"},
			"a video":        {Status: 200, Body: `{"video":{"url":"https://example.com/v.mp4"}}`, Says: "no image"},
			"a blackened one": {Status: 200,
				Body:  `{"images":[{"url":"http://HOST/files/64x64"}],"has_nsfw_concepts":[true]}`,
				Class: imagegen.ClassRefused, Says: "blackened"},
			"an image of none": {Status: 200, Body: `{"image":{"url":"http://HOST/nothing"}}`,
				Says: "could not be fetched"},
		},
	}.Run(t)
}

func isResponse(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "/requests/") && !strings.HasSuffix(r.URL.Path, "/status")
}

func TestProviderWithSeveralImagesPerCall(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New: func(t *testing.T) imagegen.Provider {
			return serve(t, double(), func(c *fal.Config) { c.MaxPerCall = 3 })
		},
		Endless:   hostedtest.Endless,
		SavesJobs: true,
		Sample:    true,
	})
}

func TestRequestIsSubmitted(t *testing.T) {
	is := is.New(t)
	d := double()
	p := serve(t, d, nil)
	r := providertest.Request(`a <fox> & "{{width}}"`, 1)
	_, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	r.Ratio, r.References = imagegen.RatioAuto, []imagegen.ProviderReference{providertest.Reference("image/png", "fox",
		1600, 900), providertest.Reference("image/png", "owl", 10, 10)}
	sizes, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(sizes, []imagegen.Size{{Width: 1280, Height: 720}}) // the first reference's shape
	want := []hostedtest.Sent{
		{Path: "/acme/fox", Fields: object{"prompt": `a <fox> & "{{width}}"`, "image_size": object{"width": 1024.0,
			"height": 1024.0}}},
		{Path: "/acme/fox/edit", Fields: object{"prompt": `a <fox> & "{{width}}"`, "image_size": object{"width": 1280.0,
			"height": 720.0},
			"image_urls": []any{"data:image/png;base64,Zm94", "data:image/png;base64,b3ds"}}},
	}
	is.Equal(cmp.Diff(want, d.Sent()), "")
}

// A model that has names for sizes is asked by name, and for nothing that it does not make.
func TestNamedSizes(t *testing.T) {
	is := is.New(t)
	d := double()
	p := serve(t, d, func(c *fal.Config) {
		c.Input = object{"prompt": "{{prompt}}", "aspect_ratio": "{{ratio}}", "resolution": "{{tier}}"}
		c.Sizes = []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 1344, Height: 768}, {Width: 2048, Height: 2048}}
		c.TierNames = map[imagegen.Tier]string{"1K": "1k", "2K": "2k"}
		c.MaxReferences = 0
	})
	is.Equal(p.Capabilities().Ratios, []imagegen.Ratio{"auto", "1:1", "16:9"})
	is.Equal(p.Capabilities().MaxReferences, 0)
	r := providertest.Request("a fox", 1)
	r.Ratio = "16:9"
	sizes, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.NoErr(r.Fits(sizes[0]))
	is.Equal(d.Sent()[0].Fields, object{"prompt": "a fox", "aspect_ratio": "16:9", "resolution": "1k"})
	r.Tier = "2K"
	err = imagegen.CheckRequest(p, r)
	is.True(err != nil && strings.Contains(err.Error(), "[1:1]")) // what there is in this tier
}

// A parameter that the model has no input for is refused, not dropped, once a runner looks at it.
func TestInputOfAnotherModel(t *testing.T) {
	is := is.New(t)
	p := serve(t, double(), func(c *fal.Config) {
		c.MaxReferences, c.Input = 0, object{"prompt": "{{prompt}}", "size": "{{size}}"}
	})
	sizes, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 1))
	is.Equal(len(sizes), 0)
	is.True(strings.Contains(providertest.Error(t, err).Err.Error(), "extra_forbidden"))
}

// ends has every request end with this response.
func ends(body string) *hostedtest.Double {
	d := double()
	d.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if isResponse(r) {
			io.WriteString(w, strings.ReplaceAll(body, "HOST", r.Host))
		}
		return isResponse(r)
	}
	return d
}

func TestOneImageInsteadOfAList(t *testing.T) {
	is := is.New(t)
	sizes, err := providertest.Collect(t.Context(), serve(t, ends(`{"image":{"url":"http://HOST/files/64x64"}}`), nil),
		providertest.Request("a fox", 1))
	is.NoErr(err)
	is.Equal(len(sizes), 1)
}

// Images that the safety checker blackened are not delivered; the rest are.
func TestPartOfTheImages(t *testing.T) {
	is := is.New(t)
	d := ends(`{"images":[{"url":"http://HOST/files/64x64"},{"url":"http://HOST/files/65x65"},{"url":"http://HOST/files/66x66"}],
		"has_nsfw_concepts":[false,true,false]}`)
	sizes, err := providertest.Collect(t.Context(), serve(t, d, func(c *fal.Config) { c.MaxPerCall = 3 }),
		providertest.Request("a fox", 3))
	is.Equal(sizes, []imagegen.Size{{Width: 64, Height: 64}, {Width: 66, Height: 66}})
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassRefused)
}

// An answer to too many polls has the form of a problem, which is not the request's.
func TestResponseThatIsPutOff(t *testing.T) {
	is := is.New(t)
	d, put := double(), false
	d.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if put || !isResponse(r) {
			return false
		}
		put = true
		upstreamtest.Answer(w, http.StatusTooManyRequests, object{"detail": "slow down", "error_type": "rate_limit"})
		return true
	}
	sizes, err := providertest.Collect(t.Context(), serve(t, d, nil), providertest.Request("a fox", 1))
	is.NoErr(err)
	is.Equal(len(sizes), 1)
}

func TestProbe(t *testing.T) {
	is := is.New(t)
	err := serve(t, double(), func(c *fal.Config) { c.Model = "acme/owl" }).Probe(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), `"acme/owl"`))
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*fal.Config){
		"no key":               func(c *fal.Config) { c.APIKey, c.Private = "", false },
		"no model":             func(c *fal.Config) { c.Model = "" },
		"a model without name": func(c *fal.Config) { c.Model = "acme" },
		"a model with a query": func(c *fal.Config) { c.Model = "acme/fox?x=1" },
		"an edit without name": func(c *fal.Config) { c.EditModel = "/edit" },
		"no prompt":            func(c *fal.Config) { c.Input = object{"image_size": "{{size}}"} },
		"references dropped":   func(c *fal.Config) { c.Input = object{"prompt": "{{prompt}}", "size": "{{size}}"} },
		"no sizes":             func(c *fal.Config) { c.SizeRules = imagegen.SizeRules{} },
		"too many per call":    func(c *fal.Config) { c.MaxPerCall = 5 },
		"prompt too long":      func(c *fal.Config) { c.MaxPrompt = 32_001 },
		"negative interval":    func(c *fal.Config) { c.PollInterval = -1 },
		"platform of no host":  func(c *fal.Config) { c.PlatformURL = "api.fal.ai/v1" },
		"http":                 func(c *fal.Config) { c.Private = false },
	} {
		t.Run(name, func(t *testing.T) {
			c := fox("http://192.0.2.1")
			change(&c)
			_, err := fal.New(c)
			is.New(t).True(err != nil)
		})
	}
}

// Units that cannot be right cost no image.
func TestBillableUnits(t *testing.T) {
	for units, want := range map[string]imagegen.Micros{"42": 42_000_000, "3.14159265": 3_141_593, "0": 0, "": 0,
		"-1": 0, "not-a-number": 0, "1e99": 0} {
		t.Run(units, func(t *testing.T) {
			is := is.New(t)
			d := ends(`{"image":{"url":"http://HOST/files/64x64"}}`)
			before := d.Before
			d.Before = func(w http.ResponseWriter, r *http.Request) bool {
				w.Header().Set("x-fal-billable-units", units) // only that of the result counts
				return before(w, r)
			}
			r := providertest.Request("a fox", 1)
			used := providertest.Used(&r)
			sizes, err := providertest.Collect(t.Context(), serve(t, d, nil), r)
			is.NoErr(err)
			is.Equal(len(sizes), 1)
			is.Equal(used(), imagegen.UpstreamUsage{Units: want})
		})
	}
}
