package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
)

// upstream takes one key and has one model.
func upstream(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer good-key":
			http.Error(w, "bad key "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		case r.Method != http.MethodGet || r.URL.Path != "/v1/models/gpt-image-2":
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

func modelsFile(t *testing.T, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("models.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func threeModels(url string) string {
	return `
models:
  - id: good
    provider: {type: openai, base_url: "` + url + `", private: true, key_env: GOOD_KEY, max_references: 0}
    credits: {1K: 1, 4K: 3}
    max_images: 2
    ratios: [auto, "16:9"]
  - id: stranger
    provider: {type: openai, base_url: "` + url + `", private: true, key_env: BAD_KEY}
    credits: {1K: 1}
  - id: picture
    provider: {type: fake}
    credits: {1K: 1}
`
}

var upstreamKeys = map[string]string{"GOOD_KEY": "good-key", "BAD_KEY": "bad-key"}

func TestProviderCheck(t *testing.T) {
	is := is.New(t)
	modelsFile(t, threeModels(upstream(t)))

	got := imagegend(t, upstreamKeys, "provider", "check", "good")
	is.Equal(got.code, cli.ExitOK)
	is.Equal(got.stderr, "")
	is.Equal(got.stdout, `good by openai
  upstream    ready: it answers and accepts what is configured
  tiers       1K for 1 credit, 4K for 3 credits
  ratios      auto 16:9
  references  none
  images      up to 2 in a request
  at once     up to 64 attempts
`)

	got = imagegend(t, upstreamKeys, "provider", "check")
	is.Equal(got.code, cli.ExitError)
	is.Equal(got.stderr, "imagegend: not ready: 1 of 3 models\n")
	says(t, got.stdout, "good by openai\n", "upstream    ready", "NOT READY: openai: asking for model",
		"refused the API key", "401", "none is needed")
	is.True(!strings.Contains(got.stdout, "bad-key"))           // the upstream repeated it
	is.True(!strings.Contains(got.stdout, "provider: unknown")) // the engine's words
}

// A price below the cost of the image is a warning, where the value of a credit is known; it fails nothing.
func TestPricesBelowCost(t *testing.T) {
	is := is.New(t)
	modelsFile(t, `models:
  - id: m
    provider: {type: fake}
    credits: {1K: 4, 2K: 3}
    prices: [{account_type: EDU, credits: {1K: 1}}, {quality: low, credits: {1K: 2}}]
    cost: {image: {1K: 0.03, 2K: 0.04}, images: [{quality: low, image: {1K: 0.01}}]}
`)
	got := imagegend(t, nil, "provider", "check", "--credit-value", "0.01")
	is.Equal(got.code, cli.ExitOK)
	is.Equal(strings.Count(got.stdout, "WARNING"), 7) // auto, medium and high for EDU; all four in 2K
	says(t, got.stdout, "WARNING     an image in 1K at quality auto costs 0.03 and is sold for 1 credits, which are worth 0.01",
		"an image in 2K at quality low costs 0.04 and is sold for 3 credits, which are worth 0.03")
	got = imagegend(t, nil, "config", "validate", "--credit-value", "0.01")
	is.Equal(got.code, cli.ExitOK)
	says(t, got.stdout, "an image in 2K at quality high costs 0.04", "raise the price")
	is.True(!strings.Contains(imagegend(t, nil, "provider", "check").stdout, "WARNING")) // nothing is known of credits
	is.True(!strings.Contains(imagegend(t, nil, "provider", "check", "--credit-value", "1").stdout, "WARNING"))
}

func TestProviderCheckJSON(t *testing.T) {
	is := is.New(t)
	modelsFile(t, threeModels(upstream(t)))
	got := imagegend(t, upstreamKeys, "provider", "check", "--json")
	is.Equal(got.code, cli.ExitError)
	var checks []struct {
		Model, Provider, Problem string
		OK                       bool
		Ratios, Tiers            []string
		Credits                  map[string]int
		MaxReferences            int `json:"max_references"`
		MaxImages                int `json:"max_images"`
	}
	is.NoErr(json.Unmarshal([]byte(got.stdout), &checks))
	is.Equal(len(checks), 3)
	good, stranger, picture := checks[0], checks[1], checks[2]
	is.True(good.OK && !stranger.OK && picture.OK)
	is.Equal(good.Problem, "")
	is.True(strings.Contains(stranger.Problem, "refused the API key"))
	is.Equal(good.Ratios, []string{"auto", "16:9"})
	is.Equal(good.Tiers, []string{"1K", "4K"})
	is.Equal(good.Credits["4K"], 3)
	is.Equal(good.MaxImages, 2)
	is.Equal(good.MaxReferences, 0)
	is.Equal(picture.MaxReferences, 16)
}

// A server that answers and cannot be asked for one model is not called out of order.
func TestProviderCheckOfAList(t *testing.T) {
	is := is.New(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(`{"data":[{"id":"sd-cpp-local","object":"model","owned_by":"local"}]}`))
	}))
	t.Cleanup(s.Close)
	modelsFile(t, strings.Split(threeModels(s.URL+"/v1"), "  - id: stranger")[0])
	got := imagegend(t, upstreamKeys, "provider", "check")
	is.Equal(got.code, cli.ExitOK)
	is.True(strings.Contains(strings.Join(strings.Fields(got.stdout), " "),
		`upstream answers; model not confirmable: openai: asking for model "gpt-image-2": it answers, but does not tell whether it has the model; it lists ["sd-cpp-local"]`))
	got = imagegend(t, upstreamKeys, "provider", "check", "--json")
	is.True(strings.Contains(got.stdout, `"ok":true,"problem":"","doubt":"openai: asking for model`) ||
		strings.Contains(got.stdout, `"doubt": "openai: asking for model`))
}

func TestProviderCheckMistakes(t *testing.T) {
	tests := []struct {
		name, models, args string
		code               int
		want               string
	}{
		{"unknown model", threeModels("http://127.0.0.1:9"), "goood", cli.ExitError,
			`no model "goood"; there are: good, stranger, picture`},
		{"two models", threeModels("http://127.0.0.1:9"), "good picture", cli.ExitUsage, "one argument too many"},
		{"no key", strings.Replace(threeModels("http://127.0.0.1:9"), "BAD_KEY", "WORSE_KEY", 1), "good", cli.ExitError,
			`models.yaml:9:86: models: model "stranger": provider: key_env: the environment variable WORSE_KEY is not set`},
		{"a tier that is not there",
			"models:\n  - {id: m, provider: {type: gemini, private: true, tiers: [1K]}, credits: {2K: 1}}\n", "",
			cli.ExitError, `model "m": credits: the provider cannot do tier 2K, only [1K]`},
		{"no file", "", "--models nowhere.yaml", cli.ExitError, "nowhere.yaml"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			modelsFile(t, test.models)
			got := imagegend(t, upstreamKeys, append([]string{"provider", "check"}, strings.Fields(test.args)...)...)
			is.Equal(got.code, test.code)
			is.Equal(got.stdout, "")
			says(t, got.stderr, test.want)
		})
	}
}

func TestProviderCheckOfTestPictures(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	got := imagegend(t, nil, "provider", "check", "--models", "fake")
	is.Equal(got.code, cli.ExitOK)
	is.True(strings.HasPrefix(got.stdout, "fake-1 by fake\n"))
}

// A retired model is not listed as on offer.
func TestValidateOfARetiredModel(t *testing.T) {
	is := is.New(t)
	modelsFile(t, "models:\n  - {id: old, provider: {type: fake}, credits: {1K: 1}, retired: true}\n")
	got := imagegend(t, nil, "config", "validate")
	is.Equal(got.code, cli.ExitOK)
	says(t, got.stdout, "fake: retired; its upstream was not asked")
}

// An upstream that does not exist is reported, and all others are checked.
func TestProviderCheckUnreachable(t *testing.T) {
	is := is.New(t)
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	modelsFile(t, threeModels(s.URL))
	got := imagegend(t, upstreamKeys, "provider", "check")
	is.Equal(got.code, cli.ExitError)
	is.Equal(strings.Count(got.stdout, "could not be reached"), 2)
	is.Equal(got.stderr, "imagegend: not ready: 2 of 3 models\n")
}
