package bfl_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/bfl"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted/hostedtest"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

func config(address string) bfl.Config {
	return bfl.Config{APIKey: key, BaseURL: address + "/v1", Private: true, PollInterval: time.Millisecond}
}

// serve starts an upstream and returns a provider for it.
func serve(t *testing.T, upstream http.Handler, change func(*bfl.Config)) *bfl.Provider {
	t.Helper()
	return upstreamtest.Serve(t, upstream, config, change, bfl.New)
}

func TestProvider(t *testing.T) {
	hostedtest.Suite{
		Double: double,
		New: func(address string, interval time.Duration) (imagegen.Provider, error) {
			c := config(address)
			c.PollInterval = interval
			return bfl.New(c)
		},
		Pending:      `{"status":"Generating"}`, // not a status of the reference
		Last:         func(r *http.Request) bool { return r.URL.Path == "/v1/get_result" },
		CannotCancel: true,
		Used:         imagegen.UpstreamUsage{Units: 4_500_000},
		Refused:      imagegen.UpstreamUsage{Units: 4_500_000},
		Submissions: map[string]hostedtest.Failure{
			"rate limited": {Status: 429, Retry: "7", Body: `{"detail":"Rate limit exceeded"}`,
				Class: imagegen.ClassRateLimited, After: 7 * time.Second},
			"too many tasks": {Status: 429, Body: `{"detail":"You have 24 active tasks"}`,
				Class: imagegen.ClassRateLimited},
			"no credits":    {Status: 402, Body: `{"detail":"Insufficient credits"}`, Class: imagegen.ClassBlocked},
			"bad key":       {Status: 403, Body: `{"detail":"Not authenticated"}`, Class: imagegen.ClassBlocked},
			"retired model": {Status: 404, Body: `{"detail":"Not Found"}`, Class: imagegen.ClassBlocked},
			"bad input": {Status: 422,
				Body:  `{"detail":[{"loc":["body","width"],"msg":"no","type":"value_error"}]}`,
				Class: imagegen.ClassInvalid},
			"cut short":  {Status: 200, Body: `{"id":"1","polling_`},
			"no address": {Status: 200, Body: `{"id":"1"}`},
		},
		Ends: map[string]hostedtest.Failure{
			"the prompt is refused": {Status: 200, Body: `{"status":"Request Moderated"}`,
				Class: imagegen.ClassRefused, Says: "moderation"},
			"the picture is refused": {Status: 200, Body: `{"status":"Content Moderated"}`,
				Class: imagegen.ClassRefused, Says: "moderation"},
			"refused with a 503": {Status: 503,
				Body:  `{"id":"1","status":"Request Moderated","result":null,"details":{"Moderation Reasons":["x"]}}`,
				Class: imagegen.ClassRefused, Says: "moderation"},
			"an error with a 500":    {Status: 500, Body: `{"id":"1","status":"Error","result":null}`, Says: "failed"},
			"an error":               {Status: 200, Body: `{"status":"Error","result":null}`, Says: "failed"},
			"gone":                   {Status: 200, Body: `{"status":"Task not found"}`, Says: "no longer knows"},
			"gone with 404":          {Status: 404, Body: `{"status":"Task not found"}`, Says: "no longer knows"},
			"ready without an image": {Status: 200, Body: `{"status":"Ready","result":{}}`, Says: "no image"},
			"another's address": {Status: 200, Body: `{"status":"Ready","result":{"sample":"ftp://192.0.2.1/x"}}`,
				Says: "could not be fetched"},
		},
	}.Run(t)
}

func TestTaskIsSubmitted(t *testing.T) {
	is := is.New(t)
	d, tolerance := double(), 0
	p := serve(t, d, func(c *bfl.Config) { c.OutputFormat, c.SafetyTolerance = "png", &tolerance })
	r := providertest.Request(`a <fox> & "snow"`, 1)
	r.Ratio, r.References = imagegen.RatioAuto, []imagegen.ProviderReference{providertest.Reference("image/png", "fox",
		1600, 900), providertest.Reference("image/png", "owl", 10, 10)}
	sizes, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(sizes, []imagegen.Size{{Width: 1280, Height: 720}}) // the first reference's shape
	want := []hostedtest.Sent{{Path: "/v1/flux-2-pro", Fields: object{"prompt": `a <fox> & "snow"`, "width": 1280.0,
		"height": 720.0, "output_format": "png", "safety_tolerance": 0.0, "input_image": "Zm94",
		"input_image_2": "b3ds"}}}
	is.Equal(cmp.Diff(want, d.Sent()), "")
}

func TestTiers(t *testing.T) {
	is := is.New(t)
	p := serve(t, double(), nil)
	is.Equal(p.Capabilities().Tiers, []imagegen.Tier{"1K", "2K"})
	r := providertest.Request("a fox", 1)
	r.Tier = "4K"
	is.True(imagegen.CheckRequest(p, r) != nil)
}

func TestExplicitSizesAreLegal(t *testing.T) {
	p := serve(t, double(), nil) // which refuses those that are not
	for asked, sent := range map[string]string{"512x512": "512x512", "1920x1080": "1920x1088", "100x100": "1024x1024",
		"2048x2048": "2048x2048", "999x2000": "1008x2000"} {
		t.Run(asked, func(t *testing.T) {
			is := is.New(t)
			r := providertest.Explicit(t, p, asked)
			is.NoErr(imagegen.CheckRequest(p, r))
			sizes, err := providertest.Collect(t.Context(), p, r)
			is.NoErr(err)
			is.Equal(sizes[0].String(), sent)
		})
	}
}

// The key stays with its owner, wherever the upstream says that a task is to be asked about.
func TestKeyIsNotSentToStrangers(t *testing.T) {
	is := is.New(t)
	var asked atomic.Bool
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer stranger.Close()
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upstreamtest.Answer(w, http.StatusOK, object{"id": "1", "polling_url": stranger.URL + "/v1/get_result?id=1"})
	}), nil)
	_, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 1))
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassUnknown)
	is.True(!asked.Load())
}

func TestProbe(t *testing.T) {
	is := is.New(t)
	err := serve(t, double(), func(c *bfl.Config) { c.APIKey = "another" }).Probe(t.Context())
	is.True(!strings.Contains(err.Error(), "another")) // though the upstream repeats it

	err = serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		upstreamtest.Answer(w, http.StatusOK, object{"credits": 0})
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
		"rules without sizes": {APIKey: "k", SizeRules: imagegen.SizeRules{Step: 16}},
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

// A cost that cannot be right costs no image. One that is right counts even if nobody waits for the image.
func TestCost(t *testing.T) {
	for cost, want := range map[string]imagegen.Micros{"3": 3_000_000, "0.0141": 14_100, "1e-2": 10_000, "null": 0,
		`"3"`: 0, "-3": 0, "1e13": 0, "[3]": 0, "true": 0} {
		t.Run(cost, func(t *testing.T) {
			is := is.New(t)
			d := double()
			d.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPost {
					d.Submit(hostedtest.Sent{Fields: object{"width": 64.0, "height": 64.0}})
					fmt.Fprintf(w, `{"id":"0","polling_url":"http://%s/v1/get_result?id=0","cost":%s}`, r.Host, cost)
				}
				return r.Method == http.MethodPost
			}
			r := providertest.Request("a fox", 1)
			used := providertest.Used(&r)
			sizes, err := providertest.Collect(t.Context(), serve(t, d, nil), r)
			is.NoErr(err)
			is.Equal(len(sizes), 1)
			is.Equal(used(), imagegen.UpstreamUsage{Units: want})
		})
	}
	is := is.New(t)
	r := providertest.Request(hostedtest.Endless, 2)
	used := providertest.Used(&r)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := providertest.Collect(ctx, serve(t, double(), nil), r)
	is.True(errors.Is(err, context.DeadlineExceeded))
	is.Equal(used(), imagegen.UpstreamUsage{Units: 9_000_000})
}
