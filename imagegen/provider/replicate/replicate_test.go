package replicate_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted/hostedtest"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
	"github.com/imagegend/imagegend/imagegen/provider/replicate"
)

// fox is a model that takes any size.
func fox(address string) replicate.Config {
	return replicate.Config{APIKey: key, BaseURL: address + "/v1", Private: true, PollInterval: time.Millisecond,
		Model: "acme/fox", Template: provider.Template{MaxReferences: 8,
			Input: object{"prompt": "{{prompt}}", "aspect_ratio": "custom", "width": "{{width}}",
				"height": "{{height}}", "input_images": "{{references}}", "safety_tolerance": 2},
			SizeRules: imagegen.SizeRules{Step: 16, MinEdge: 256, MaxEdge: 4096, MaxPixels: 2048 * 2048, MaxAspect: 3}}}
}

// serve starts an upstream and returns a provider for it.
func serve(t *testing.T, upstream http.Handler, change func(*replicate.Config)) *replicate.Provider {
	t.Helper()
	return upstreamtest.Serve(t, upstream, fox, change, replicate.New)
}

func TestProvider(t *testing.T) {
	hostedtest.Suite{
		Double: double,
		New: func(address string, interval time.Duration) (imagegen.Provider, error) {
			c := fox(address)
			c.PollInterval = interval
			return replicate.New(c)
		},
		Pending: `{"status":"processing"}`,
		Last:    func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/predictions/") },
		Used:    imagegen.UpstreamUsage{Time: 2345678 * time.Microsecond},
		Refused: imagegen.UpstreamUsage{Time: 2345678 * time.Microsecond},
		Submissions: map[string]hostedtest.Failure{
			"rate limited": {Status: 429, Retry: "30",
				Body:  `{"detail":"Request was throttled. Your rate limit resets in ~30s."}`,
				Class: imagegen.ClassRateLimited, After: 30 * time.Second},
			"slow down": {Status: 429, Body: `{"detail":"Request was throttled.","status":429,"retry_after":9}`,
				Class: imagegen.ClassRateLimited, After: 9 * time.Second},
			"no credit": {Status: 402, Body: `{"title":"Insufficient credit","detail":"Go to billing"}`,
				Class: imagegen.ClassBlocked},
			"bad key": {Status: 401, Body: `{"title":"Unauthenticated"}`, Class: imagegen.ClassBlocked},
			"no model": {Status: 404, Body: `{"detail":"The requested resource could not be found.","status":404}`,
				Class: imagegen.ClassBlocked},
			"bad input": {Status: 422, Body: `{"title":"Input validation failed","invalid_fields":[]}`,
				Class: imagegen.ClassInvalid},
			"cut short":  {Status: 201, Body: `{"id":"1","urls":{`},
			"no address": {Status: 201, Body: `{"id":"1","status":"starting"}`},
		},
		Ends: map[string]hostedtest.Failure{
			"sensitive": {Status: 200,
				Body:  `{"status":"failed","error":"The input or output was flagged as sensitive. (E005)"}`,
				Class: imagegen.ClassRefused, Says: "moderation"},
			"not safe": {Status: 200,
				Body:  `{"status":"failed","error":"NSFW content detected. Try a different prompt."}`,
				Class: imagegen.ClassRefused, Says: "moderation"},
			"out of memory": {Status: 200, Body: `{"status":"failed","error":"CUDA out of memory"}`,
				Says: "out of memory"},
			"no reason": {Status: 200, Body: `{"status":"failed","error":null}`, Says: "failed"},
			"cancelled": {Status: 200, Body: `{"status":"canceled"}`, Says: "cancelled"},
			"never begun": {Status: 200, Body: `{"status":"aborted"}`, Class: imagegen.ClassUnavailable,
				Says: "before"},
			"an empty list":  {Status: 200, Body: `{"status":"succeeded","output":[]}`, Says: "no image"},
			"nothing":        {Status: 200, Body: `{"status":"succeeded","output":null}`, Says: "no image"},
			"something else": {Status: 200, Body: `{"status":"succeeded","output":{"seed":7}}`, Says: "no image"},
			"removed": {Status: 404, Body: `{"detail":"The requested resource does not exist"}`,
				Says: "no longer knows"},
			"the key is stale": {Status: 401, Body: `{"title":"Unauthenticated"}`, Says: "out of reach"},
		},
	}.Run(t)
}

// Models name their images in several forms, which say the same.
func TestFormsOfOutput(t *testing.T) {
	for output, want := range map[string]int{
		`"HOST/a"`: 1, `["HOST/a"]`: 1, `["HOST/a","HOST/b"]`: 2, `["HOST/a",null,""]`: 1, `[{"url":"HOST/a"}]`: 1,
		`{"image":"HOST/a","seed":7,"prompt":"a fox"}`: 1, `{"images":["HOST/a","HOST/b"]}`: 2,
		`{"images":[{"url":"HOST/a"},{"url":"HOST/b"}]}`: 2, `"data:image/png;base64,PNG"`: 1,
		`{"prompt":"see HOST/a"}`: 0, `{"image":"HOST/a","source":"HOST/b"}`: 0,
	} {
		t.Run(output, func(t *testing.T) {
			is := is.New(t)
			picture := upstreamtest.PNG(64, 64)
			p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				host := "http://" + r.Host
				switch {
				case r.Method == http.MethodPost:
					upstreamtest.Answer(w, http.StatusCreated, object{"id": "1",
						"urls": object{"get": host + "/v1/predictions/1"}})
				case r.URL.Path == "/v1/predictions/1":
					io.WriteString(w, `{"status":"succeeded","output":`+strings.NewReplacer("HOST", host, "PNG",
						base64.StdEncoding.EncodeToString(picture)).Replace(output)+`}`)
				default:
					w.Header().Set("Content-Type", "image/png")
					w.Write(picture)
				}
			}), func(c *replicate.Config) { c.MaxPerCall, c.Input["num_outputs"] = 2, "{{n}}" })
			images, err := providertest.Read(t.Context(), p, providertest.Request("a fox", 2))
			is.Equal(len(images), want)
			is.Equal(err == nil, want > 0)
		})
	}
}

func TestProviderWithSeveralImagesPerCall(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New: func(t *testing.T) imagegen.Provider {
			return serve(t, double(), func(c *replicate.Config) { c.MaxPerCall, c.Input["num_outputs"] = 3, "{{n}}" })
		},
		Endless:   hostedtest.Endless,
		SavesJobs: true,
		Sample:    true,
	})
}

func TestPredictionIsCreated(t *testing.T) {
	for name, c := range map[string]struct{ model, deployment, path string }{
		"official model":  {model: "acme/fox", path: "/v1/models/acme/fox/predictions"},
		"community model": {model: "acme/fox:5c7d5dc6", path: "/v1/predictions"},
		"deployment":      {deployment: "acme/fox", path: "/v1/deployments/acme/fox/predictions"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := double()
			p := serve(t, d, func(o *replicate.Config) { o.Model, o.Deployment = c.model, c.deployment })
			is.NoErr(p.Probe(t.Context()))
			r := providertest.Request(`a <fox> & "{{width}}"`, 1)
			r.Ratio, r.References = imagegen.RatioAuto, []imagegen.ProviderReference{providertest.Reference("image/png",
				"fox", 1600, 900), providertest.Reference("image/png", "owl", 10, 10)}
			sizes, err := providertest.Collect(t.Context(), p, r)
			is.NoErr(err)
			is.Equal(sizes, []imagegen.Size{{Width: 1280, Height: 720}}) // the first reference's shape
			want := []hostedtest.Sent{{Path: c.path, Fields: object{"prompt": `a <fox> & "{{width}}"`,
				"aspect_ratio": "custom", "width": 1280.0, "height": 720.0,
				"input_images":     []any{"data:image/png;base64,Zm94", "data:image/png;base64,b3ds"},
				"safety_tolerance": 2.0}}}
			is.Equal(cmp.Diff(want, d.Sent()), "")
		})
	}
}

// A model that has names for sizes is asked by name, and for nothing that it does not make.
func TestNamedSizes(t *testing.T) {
	is := is.New(t)
	d := double()
	p := serve(t, d, func(c *replicate.Config) {
		c.Input = object{"prompt": "{{prompt}}", "aspect_ratio": "{{ratio}}", "resolution": "{{tier}}"}
		c.Sizes = []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 1344, Height: 768}, {Width: 2048, Height: 2048}}
		c.TierNames = map[imagegen.Tier]string{"1K": "1 MP", "2K": "4 MP"}
		c.MaxReferences = 0
	})
	is.Equal(p.Capabilities().Ratios, []imagegen.Ratio{"auto", "1:1", "16:9"})
	r := providertest.Request("a fox", 1)
	r.Tier = "2K"
	sizes, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.NoErr(r.Fits(sizes[0]))
	is.Equal(d.Sent()[0].Fields, object{"prompt": "a fox", "aspect_ratio": "1:1", "resolution": "4 MP"})
	r.Ratio = "16:9"
	err = imagegen.CheckRequest(p, r)
	is.True(err != nil && strings.Contains(err.Error(), "[1:1]")) // what there is in this tier
}

// A parameter that the model has no input for is refused, not dropped.
func TestInputOfAnotherModel(t *testing.T) {
	is := is.New(t)
	d := double()
	_, err := providertest.Collect(t.Context(), serve(t, d, func(c *replicate.Config) { c.Input["steps"] = 28 }),
		providertest.Request("a fox", 1))
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassInvalid)
	is.Equal(len(d.Sent()), 0)
}

// A prediction that is refused takes nothing from the others.
func TestPartOfTheImages(t *testing.T) {
	is := is.New(t)
	d := double()
	d.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/predictions/1" {
			return false
		}
		upstreamtest.Answer(w, http.StatusOK, object{"status": "failed", "error": "flagged as sensitive"})
		return true
	}
	sizes, err := providertest.Collect(t.Context(), serve(t, d, nil), providertest.Request("a fox", 3))
	is.Equal(len(sizes), 2)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassRefused)
}

func TestProbe(t *testing.T) {
	is := is.New(t)
	err := serve(t, double(), func(c *replicate.Config) { c.Model = "acme/owl" }).Probe(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), "/models/acme/owl"))
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*replicate.Config){
		"no key":               func(c *replicate.Config) { c.APIKey, c.Private = "", false },
		"no model":             func(c *replicate.Config) { c.Model = "" },
		"two models":           func(c *replicate.Config) { c.Deployment = "acme/fox" },
		"a model without name": func(c *replicate.Config) { c.Model = "acme" },
		"a model with a path":  func(c *replicate.Config) { c.Model = "acme/fox/../../x" },
		"a version deployed":   func(c *replicate.Config) { c.Model, c.Deployment = "", "acme/fox:1" },
		"no input":             func(c *replicate.Config) { c.Input = nil },
		"unknown placeholder":  func(c *replicate.Config) { c.Input["seed"] = "{{chance}}" },
		"no sizes":             func(c *replicate.Config) { c.SizeRules = imagegen.SizeRules{} },
		"too many per call":    func(c *replicate.Config) { c.MaxPerCall = 5 },
		"prompt too long":      func(c *replicate.Config) { c.MaxPrompt = 32_001 },
		"negative interval":    func(c *replicate.Config) { c.PollInterval = -1 },
		"http":                 func(c *replicate.Config) { c.Private = false },
	} {
		t.Run(name, func(t *testing.T) {
			c := fox("http://192.0.2.1")
			change(&c)
			_, err := replicate.New(c)
			is.New(t).True(err != nil)
		})
	}
}
