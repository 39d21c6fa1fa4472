package replicate_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	_ "image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
	"github.com/imagegend/imagegend/imagegen/provider/replicate"
)

// fox is a model that takes any size.
func fox(address string) replicate.Config {
	return replicate.Config{APIKey: key, BaseURL: address + "/v1", Private: true, PollInterval: time.Millisecond,
		Model: "acme/fox", MaxReferences: 8,
		Input: map[string]any{"prompt": "{{prompt}}", "aspect_ratio": "custom", "width": "{{width}}", "height": "{{height}}",
			"input_images": "{{references}}", "safety_tolerance": 2},
		SizeRules: replicate.SizeRules{Step: 16, MinEdge: 256, MaxEdge: 4096, MaxPixels: 2048 * 2048, MaxAspect: 3}}
}

// serve starts an upstream and returns a provider for it.
func serve(t *testing.T, upstream http.Handler, change func(*replicate.Config)) *replicate.Provider {
	t.Helper()
	s := httptest.NewServer(upstream)
	t.Cleanup(s.Close)
	c := fox(s.URL)
	if change != nil {
		change(&c)
	}
	p, err := replicate.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// request forgets its jobs, as work does that will not be tried again.
func request(prompt string, n int) imagegen.ProviderRequest {
	return imagegen.ProviderRequest{Key: "gen_1", Prompt: prompt, N: n, Ratio: "1:1", Tier: "1K", Quality: "auto",
		SaveJob: func(context.Context, []byte) error { return nil }}
}

// collect returns the sizes of the images and the error that the call ended with.
func collect(ctx context.Context, p imagegen.Provider, r imagegen.ProviderRequest) (sizes []imagegen.Size, ended error) {
	for i, err := range p.Generate(ctx, r) {
		if err != nil {
			return sizes, err
		}
		raw, err := io.ReadAll(i.Body)
		if err != nil {
			continue // one that breaks off counts as not delivered
		}
		c, _, _ := image.DecodeConfig(bytes.NewReader(raw))
		sizes = append(sizes, imagegen.Size{Width: c.Width, Height: c.Height})
	}
	return sizes, nil
}

// stored is a reference image.
type stored []byte

func (s stored) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(s)), nil
}

func reference(text string, width, height int) imagegen.ProviderReference {
	return imagegen.ProviderReference{Reference: stored(text), MediaType: "image/png", Size: int64(len(text)), Width: width, Height: height}
}

func TestProvider(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New:       func(t *testing.T) imagegen.Provider { return serve(t, &double{}, nil) },
		Endless:   endless,
		SavesJobs: true,
		Sample:    true,
	})
}

func TestProviderWithSeveralImagesPerCall(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New: func(t *testing.T) imagegen.Provider {
			return serve(t, &double{}, func(c *replicate.Config) { c.MaxPerCall, c.Input["num_outputs"] = 3, "{{n}}" })
		},
		Endless:   endless,
		SavesJobs: true,
		Sample:    true,
	})
}

func TestPredictionIsCreated(t *testing.T) {
	for name, c := range map[string]struct {
		model, deployment string
		path, version     string
	}{
		"official model":  {model: "acme/fox", path: "/models/acme/fox/predictions"},
		"community model": {model: "acme/fox:5c7d5dc6", path: "/predictions", version: "5c7d5dc6"},
		"deployment":      {deployment: "acme/fox", path: "/deployments/acme/fox/predictions"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := &double{}
			p := serve(t, d, func(o *replicate.Config) { o.Model, o.Deployment = c.model, c.deployment })
			is.NoErr(p.Probe(t.Context()))
			r := request(`a <fox> & "{{width}}"`, 1)
			r.Ratio, r.References = imagegen.RatioAuto, []imagegen.ProviderReference{reference("fox", 1600, 900), reference("owl", 10, 10)}
			sizes, err := collect(t.Context(), p, r)
			is.NoErr(err)
			is.Equal(sizes, []imagegen.Size{{Width: 1280, Height: 720}}) // the first reference's shape
			want := []created{{Path: c.path, Version: c.version, Input: map[string]any{"prompt": `a <fox> & "{{width}}"`, "aspect_ratio": "custom",
				"width": 1280.0, "height": 720.0, "input_images": []any{"data:image/png;base64,Zm94", "data:image/png;base64,b3ds"}, "safety_tolerance": 2.0}}}
			if diff := cmp.Diff(want, d.created()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every ratio in every tier is sent as the table has it, and comes back as itself.
func TestEveryRatioInEveryTier(t *testing.T) {
	p := serve(t, &double{}, nil)
	is := is.New(t)
	can := p.Capabilities()
	is.Equal(can.Ratios, imagegen.Ratios())
	is.Equal(can.Tiers, []imagegen.Tier{"1K", "2K"})
	for _, ratio := range can.Ratios[1:] {
		for _, tier := range can.Tiers {
			r := request("a fox", 1)
			r.Ratio, r.Tier = ratio, tier
			is.NoErr(p.Check(r))
			sizes, err := collect(t.Context(), p, r)
			is.NoErr(err)
			is.Equal(sizes, []imagegen.Size{provider.SizeFor(ratio, tier)})
			is.Equal(imagegen.TierOf(sizes[0].Area()), tier)
		}
	}
}

// A model that has names for sizes is asked by name, and for nothing that it does not make.
func TestNamedSizes(t *testing.T) {
	is := is.New(t)
	d := &double{}
	p := serve(t, d, func(c *replicate.Config) {
		c.Input = map[string]any{"prompt": "{{prompt}}", "aspect_ratio": "{{ratio}}", "resolution": "{{tier}}"}
		c.Sizes = []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 1344, Height: 768}, {Width: 2048, Height: 2048}}
		c.TierNames = map[imagegen.Tier]string{"1K": "1 MP", "2K": "4 MP"}
		c.MaxReferences = 0
	})
	is.Equal(p.Capabilities().Ratios, []imagegen.Ratio{"auto", "1:1", "16:9"})
	is.Equal(p.Capabilities().MaxReferences, 0)
	for _, want := range [][3]string{{"16:9", "1K", "1 MP"}, {"1:1", "2K", "4 MP"}} {
		r := request("a fox", 1)
		r.Ratio, r.Tier = imagegen.Ratio(want[0]), imagegen.Tier(want[1])
		is.NoErr(p.Check(r))
		sizes, err := collect(t.Context(), p, r)
		is.NoErr(err)
		is.NoErr(r.Fits(sizes[0]))
		sent := d.created()
		is.Equal(sent[len(sent)-1].Input, map[string]any{"prompt": "a fox", "aspect_ratio": want[0], "resolution": want[2]})
	}
	r := request("a fox", 1)
	r.Ratio, r.Tier = "16:9", "2K"
	err := p.Check(r)
	is.True(err != nil && strings.Contains(err.Error(), "[1:1]")) // what there is in this tier
}

// A restart in the middle of the work continues it: the upstream is paid once for each image.
func TestResumedAfterARestart(t *testing.T) {
	is := is.New(t)
	ctx, restart := context.WithCancel(t.Context())
	var polls atomic.Int64
	d := &double{}
	d.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || ctx.Err() != nil {
			return false
		}
		answer(w, http.StatusOK, map[string]any{"status": "processing"})
		if polls.Add(1) == 5 {
			restart()
		}
		return true
	}
	s := httptest.NewServer(d)
	defer s.Close()
	c := fox(s.URL)
	c.PollInterval = 5 * time.Millisecond
	r := request("a fox", 2)
	r.SaveJob = func(_ context.Context, job []byte) error { r.Job = job; return nil }

	first, err := replicate.New(c)
	is.NoErr(err)
	sizes, err := collect(ctx, first, r)
	is.Equal(len(sizes), 0)
	is.True(errors.Is(err, context.Canceled))
	is.Equal(len(d.created()), 2)
	is.Equal(len(d.ended()), 0) // somebody comes back

	second, err := replicate.New(c)
	is.NoErr(err)
	sizes, err = collect(t.Context(), second, r)
	is.NoErr(err)
	is.Equal(len(sizes), 2)
	is.Equal(len(d.created()), 2) // and no more
}

// Nobody comes back for a prediction whose time is up.
func TestCancelledAtTheDeadline(t *testing.T) {
	is := is.New(t)
	d, late := &double{}, errors.New("the time is up")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, late)
	defer cancel()
	_, err := collect(ctx, serve(t, d, nil), request(endless, 2))
	is.True(errors.Is(err, late))
	is.Equal(len(d.created()), 2)
	is.Equal(len(d.ended()), 2)
}

func TestProbe(t *testing.T) {
	is := is.New(t)
	err := serve(t, &double{}, func(c *replicate.Config) { c.APIKey = "another" }).Probe(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), "the upstream refused the API key"))
	err = serve(t, &double{}, func(c *replicate.Config) { c.Model = "acme/owl" }).Probe(t.Context())
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
		"unknown placeholder":  func(c *replicate.Config) { c.Input["seed"] = "{{seed}}" },
		"no sizes":             func(c *replicate.Config) { c.SizeRules = replicate.SizeRules{} },
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
