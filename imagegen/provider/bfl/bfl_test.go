package bfl_test

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
	"github.com/imagegend/imagegend/imagegen/provider/bfl"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// serve starts an upstream and returns a provider for it.
func serve(t *testing.T, upstream http.Handler, change func(*bfl.Config)) *bfl.Provider {
	t.Helper()
	s := httptest.NewServer(upstream)
	t.Cleanup(s.Close)
	c := bfl.Config{APIKey: key, BaseURL: s.URL + "/v1", Private: true, PollInterval: time.Millisecond}
	if change != nil {
		change(&c)
	}
	p, err := bfl.New(c)
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

func TestTaskIsSubmitted(t *testing.T) {
	is := is.New(t)
	d, tolerance := &double{}, 0
	p := serve(t, d, func(c *bfl.Config) { c.OutputFormat, c.SafetyTolerance = "png", &tolerance })
	r := request(`a <fox> & "snow"`, 1)
	r.Ratio, r.References = imagegen.RatioAuto, []imagegen.ProviderReference{reference("fox", 1600, 900), reference("owl", 10, 10)}
	sizes, err := collect(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(sizes, []imagegen.Size{{Width: 1280, Height: 720}}) // the first reference's shape
	want := []map[string]any{{"prompt": `a <fox> & "snow"`, "width": 1280.0, "height": 720.0, "output_format": "png",
		"safety_tolerance": 0.0, "input_image": "Zm94", "input_image_2": "b3ds"}}
	if diff := cmp.Diff(want, d.submitted()); diff != "" {
		t.Error(diff)
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
			is.Equal(imagegen.NearestRatio(sizes[0], imagegen.Ratios()), ratio)
		}
	}
	r := request("a fox", 1)
	r.Tier = "4K"
	is.True(p.Check(r) != nil)
}

func TestExplicitSizesAreLegal(t *testing.T) {
	p := serve(t, &double{}, nil) // which refuses those that are not
	for asked, sent := range map[string]string{"512x512": "512x512", "1920x1080": "1920x1088", "100x100": "1024x1024", "2048x2048": "2048x2048", "999x2000": "1008x2000"} {
		t.Run(asked, func(t *testing.T) {
			is := is.New(t)
			r := request("a fox", 1)
			var err error
			r.Size, err = imagegen.ParseSize(asked)
			is.NoErr(err)
			r.Ratio, r.Tier = imagegen.NearestRatio(r.Size, imagegen.Ratios()), imagegen.TierOf(r.Size.Area())
			is.NoErr(p.Check(r))
			sizes, err := collect(t.Context(), p, r)
			is.NoErr(err)
			is.Equal(sizes[0].String(), sent)
		})
	}
}

// A restart in the middle of the work continues it: the upstream is paid once for each image.
func TestResumedAfterARestart(t *testing.T) {
	is := is.New(t)
	ctx, restart := context.WithCancel(t.Context())
	var polls atomic.Int64
	d := &double{}
	d.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/get_result" || ctx.Err() != nil {
			return false
		}
		answer(w, http.StatusOK, map[string]any{"status": "Generating"}) // not a status of the reference
		if polls.Add(1) == 5 {
			restart()
		}
		return true
	}
	s := httptest.NewServer(d)
	defer s.Close()
	c := bfl.Config{APIKey: key, BaseURL: s.URL + "/v1", Private: true, PollInterval: 5 * time.Millisecond}
	r := request("a fox", 2)
	r.SaveJob = func(_ context.Context, job []byte) error { r.Job = job; return nil }

	first, err := bfl.New(c)
	is.NoErr(err)
	sizes, err := collect(ctx, first, r)
	is.Equal(len(sizes), 0)
	is.True(errors.Is(err, context.Canceled))
	is.Equal(len(d.submitted()), 2)

	second, err := bfl.New(c)
	is.NoErr(err)
	sizes, err = collect(t.Context(), second, r)
	is.NoErr(err)
	is.Equal(len(sizes), 2)
	is.Equal(len(d.submitted()), 2) // and no more
}

func TestProbe(t *testing.T) {
	is := is.New(t)
	is.NoErr(serve(t, &double{}, nil).Probe(t.Context()))

	err := serve(t, &double{}, func(c *bfl.Config) { c.APIKey = "another" }).Probe(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), "the upstream refused the API key"))
	is.True(!strings.Contains(err.Error(), "another")) // though the upstream repeated it

	err = serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"credits": 0})
	}), nil).Probe(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), "no credits left"))
}

func TestNewRefuses(t *testing.T) {
	tolerance := 6
	for name, c := range map[string]bfl.Config{
		"no key":              {},
		"http":                {APIKey: "k", BaseURL: "http://api.example.com"},
		"no host":             {APIKey: "k", BaseURL: "api.example.com/v1"},
		"too many references": {APIKey: "k", MaxReferences: 9},
		"prompt too long":     {APIKey: "k", MaxPrompt: 32_001},
		"unknown format":      {APIKey: "k", OutputFormat: "gif"},
		"too tolerant":        {APIKey: "k", SafetyTolerance: &tolerance},
		"negative interval":   {APIKey: "k", PollInterval: -1},
		"rules without sizes": {APIKey: "k", SizeRules: bfl.SizeRules{Step: 16}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bfl.New(c)
			is.New(t).True(err != nil)
		})
	}
	p, err := bfl.New(bfl.Config{APIKey: "k", MaxReferences: -1})
	is.New(t).NoErr(err)
	is.New(t).Equal(p.Capabilities().MaxReferences, 0)
}
