package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
)

func load(t *testing.T, text string) ([]engine.Model, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "models.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return catalog.Load(path, catalog.Options{})
}

func TestLoad(t *testing.T) {
	is := is.New(t)
	models, err := load(t, `
models:
  - id: GPT-Image.1          # neither dots nor capitals are touched
    provider: {type: fake}
    credits: {1K: 5, 4K: 20} # no 2K on offer
    max_effort: {4K: medium}
    ratios: [auto, 1:1, "16:9"]
    max_references: 0
    max_images: 2
    max_prompt: 4000
    retired: true
  - id: fake-2
    provider:
      type: fake
    credits:
      1K: 1
`)
	is.NoErr(err)
	is.Equal(len(models), 2)
	is.Equal(models[0].Provider.Name(), "fake")
	zero := 0
	want := engine.Model{
		ID: "GPT-Image.1", Credits: map[imagegen.Tier]imagegen.Credits{"1K": 5, "4K": 20},
		MaxEffort: map[imagegen.Tier]imagegen.Quality{"4K": "medium"}, Ratios: []imagegen.Ratio{"auto", "1:1", "16:9"},
		MaxReferences: &zero, MaxImages: 2, MaxPrompt: 4000, Retired: true, Upstreams: []string{"fake"},
	}
	models[0].Provider = nil
	is.Equal(cmp.Diff(want, models[0]), "")
	is.Equal(models[1].ID, "fake-2")
}

func TestMistakesAreNamed(t *testing.T) {
	const head = "models:\n  - id: m\n    provider: {type: fake}\n    credits: {1K: 1}\n"
	const small = "{type: gemini, private: true, base_url: 'http://127.0.0.1:1', sizes: {1:1: 1024x1024}, tiers: [1K], max_references: 0}"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty file", "", []string{"lists no model"}},
		{"empty list", "models: []\n", []string{":1:", "models: the list is empty"}},
		{"no list of models", "{}\n", []string{":1:", "lists no model"}},
		{"unknown key at the top", "model:\n  - id: m\n", []string{":1:", `"model"`, `"models"`}},
		{"unknown key of a model", head + "    max_image: 2\n", []string{":5:", `model "m"`, `"max_image"`, `"max_images"`}},
		{"unknown key of a provider", "models:\n  - id: m\n    provider: {type: fake, colour: red}\n", []string{":3:", `model "m"`, "provider", `"colour"; there are: image, type`}},
		{"unknown key near to none", head + "    colour: red\n", []string{":5:", `"colour"; there are: aliases, credits, id, max_concurrent, max_effort, `}},
		{"key twice", head + "    max_images: 2\n    max_images: 3\n", []string{":6:", `"max_images" stands at line 5 already`}},
		{"input twice", "models:\n  - id: m\n    provider: {type: fal, input: {a: 1, a: 2}}\n", []string{":3:41:", `"a" stands at line 3 already`}},
		{"status twice", "models:\n  - provider: {type: http, statuses: {403: refused, 403: invalid}}\n", []string{":2:", `"403" stands at line 2 already`}},
		{"alias", head + "    ratios: [&auto auto, *auto]\n", []string{":5:26:", "an alias has no place here"}},
		{"alias for a type", "models:\n  - id: &fake fake\n    provider: {type: *fake}\n", []string{":3:", "provider needs a type"}},
		{"no id", "models:\n  - provider: {type: fake}\n    credits: {1K: 1}\n", []string{":2:", "needs an id"}},
		{"no provider", "models:\n  - id: m\n    credits: {1K: 1}\n", []string{`model "m"`, "needs a provider"}},
		{"provider without type", "models:\n  - id: m\n    provider: {}\n", []string{":3:", "needs a type", "fake"}},
		{"unknown provider", "models:\n  - id: m\n    provider: {type: fakes}\n", []string{":3:", `"fakes"`, `did you mean "fake"`}},
		{"no prices", "models:\n  - id: m\n    provider: {type: fake}\n", []string{`model "m"`, "needs prices"}},
		{"tier in small letters", "models:\n  - id: m\n    provider: {type: fake}\n    credits: {1k: 1}\n", []string{":4:", `"1k"`, "credits"}},
		{"price of nothing", "models:\n  - id: m\n    provider: {type: fake}\n    credits: {1K: 0}\n", []string{":4:", "credits: 1K", "from 1", "0"}},
		{"half a credit", "models:\n  - id: m\n    provider: {type: fake}\n    credits: {1K: 0.5}\n", []string{":4:", "0.5", "whole number"}},
		{"price missing", "models:\n  - id: m\n    provider: {type: fake}\n    credits: {1K: }\n", []string{":4:", "whole number"}},
		{"unknown effort", head + "    max_effort: {1K: best}\n", []string{":5:", `"best"`, "medium"}},
		{"unknown ratio", head + "    ratios: [7:5]\n", []string{":5:", `"7:5"`, "16:9"}},
		{"no list", head + "    ratios: auto\n", []string{":5:", "ratios", "list"}},
		{"too many references", head + "    max_references: 17\n", []string{":5:", "max_references is 17", "up to 16"}},
		{"no yes or no", head + "    retired: soon\n", []string{":5:", "retired", "true or false"}},
		{"no images", head + "    max_images: 0\n", []string{":5:", "max_images", "from 1"}},
		{"no alias", head + "    aliases: []\n", []string{":5:", "aliases: the list is empty"}},
		{"alias of its own name", head + "    aliases: [m]\n", []string{":5:15:", `model "m"`, `"m" names a model at line 2 already`}},
		{"alias of another's name", head + "    aliases: [n]\n  - id: n\n    provider: {type: fake}\n    credits: {1K: 1}\n",
			[]string{":5:15:", `model "m"`, `"n" names a model at line 6 already`}},
		{"alias twice", head + "    aliases: [a, a]\n", []string{":5:18:", `"a" names a model at line 5 already`}},
		{"a text for a model", "models: [m]\n", []string{":1:", "keys are wanted"}},
		{"id twice", head + "  - id: n\n    provider: {type: fake}\n    credits: {1K: 1}\n  - provider: {type: fake}\n    credits: {1K: 1}\n    id: m\n",
			[]string{":10:", `model "m"`, "line 2", "another id"}},
		{"price beyond all accounts", "models:\n  - id: m\n    provider: {type: fake}\n    credits: {1K: 9007199254740991}\n", []string{":4:", "credits: 1K", "more than an account"}},
		{"price for an impossible tier", "models:\n  - id: m\n    provider: " + small + "\n    credits:\n      1K: 1\n      4K: 4\n",
			[]string{":6:", `model "m"`, "credits", "cannot do tier 4K, only [1K]"}},
		{"no price for a possible tier", "models:\n  - id: m\n    provider: " + small + "\n    credits: {4K: 4}\n",
			[]string{":4:", `model "m"`, "credits", "cannot do tier 4K, only [1K]"}},
		{"impossible ratio", "models:\n  - id: m\n    provider: " + small + "\n    credits: {1K: 1}\n    ratios:\n      - auto\n      - 21:9\n",
			[]string{":7:", `model "m"`, "ratios", "cannot do ratio 21:9"}},
		{"second document", head + "---\nmodel: red\n", []string{"models.yaml:5:1: a second YAML document"}},
		{"no YAML", "models: [\n", []string{"models.yaml: this is not YAML near line 1: did not find"}},
		{"no YAML in a line", "models:\n  - id: m\n  credits: {1K: 1}\n", []string{"models.yaml: this is not YAML near line 1: did not find"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			_, err := load(t, test.text)
			is.True(err != nil)
			for _, want := range append(test.want, "models.yaml") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

func TestMissingFile(t *testing.T) {
	is := is.New(t)
	_, err := catalog.Load("nowhere.yaml", catalog.Options{})
	is.True(err != nil && strings.Contains(err.Error(), "nowhere.yaml"))
}

func TestDefault(t *testing.T) {
	is := is.New(t)
	models := catalog.Default(catalog.Options{})
	is.Equal(len(models), 1)
	is.Equal(models[0].ID, "fake-1")
	is.Equal(cmp.Diff(models[0].Credits, map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2, "4K": 4}), "")
	is.True(!models[0].Provider.(*provider.Fake).AllowCrash)
	is.True(catalog.Default(catalog.Options{AllowCrash: true})[0].Provider.(*provider.Fake).AllowCrash)
}
