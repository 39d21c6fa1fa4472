package catalog_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
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

// All mistakes are reported together, each with its line, and none that only follows from another.
func TestAllMistakesAreReported(t *testing.T) {
	is := is.New(t)
	_, err := load(t, `
models:
  - id: m
    provider: {type: fake, colour: red, color: blue}
    credits: {1k: 1, 2K: 0}
    max_images: 9
    max_prompt: many
    aliases: [n, n]
  - id: m
    provider: {type: router, members: [{provider: {type: openai, key: sk-1, modell: x}}, {provider: {type: nothing}}]}
  - {}
  - text
`)
	is.True(err != nil)
	var got []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		_, line, _ = strings.Cut(line, "models.yaml:")
		line = strings.Replace(line, "models: ", "", 1)
		got = append(got, line[:min(len(line), 60)])
	}
	is.Equal(cmp.Diff([]string{
		`4:28: model "m": provider: unknown key "colour"; there are: `,
		`4:41: model "m": provider: unknown key "color"; there are: i`,
		`5:15: model "m": credits: one of 1K, 2K, 4K is wanted; got "`,
		`5:26: model "m": credits: 2K: a whole number from 1 is wante`,
		`7:17: model "m": max_prompt: a whole number is wanted; got "`,
		`6:17: model "m": max_images is 9; it can be up to 4`,
		`10:66: model "m": provider: members: provider: key: a secret`,
		`10:77: model "m": provider: members: provider: unknown key "`,
		`10:101: model "m": provider: members: provider: unknown type`,
		`9:5: model "m": a model needs prices, such as credits: {1K: `,
		`11:5: a model needs an id`,
		`11:5: a model needs a provider, such as provider: {type: fak`,
		`11:5: a model needs prices, such as credits: {1K: 1, 2K: 2, `,
		`12:5: keys are wanted here: [aliases cost credits id max_con`,
		`9:9: model "m" stands at line 3 already; give this one anoth`,
		`8:18: model "m": aliases: "n" names a model at line 8 alread`,
	}, got), "")
}

// Prices of a file: a number is for every tier on offer.
func TestPrices(t *testing.T) {
	is := is.New(t)
	models, err := load(t, `
models:
  - id: m
    provider: {type: fake}
    prices:
      - {quality: high, account_type: PRO, references: 2, mask: true, credits: 9, reference_credits: 0}
      - {quality: low, credits: {1K: 1}}
    credits: {1K: 2, 4K: 8}
    reference_credits: 3
`)
	is.NoErr(err)
	zero := imagegen.Credits(0)
	want := []imagegen.Price{
		{Quality: "high", AccountType: "PRO", References: 2, Mask: true,
			Credits: map[imagegen.Tier]imagegen.Credits{"1K": 9,
				"2K": 9, "4K": 9}, ReferenceCredits: &zero},
		{Quality: "low", Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}},
	}
	is.Equal(cmp.Diff(want, models[0].Prices), "")
	is.Equal(models[0].ReferenceCredits, imagegen.Credits(3))
}

// Costs of a file are exact amounts of money.
func TestCosts(t *testing.T) {
	is := is.New(t)
	models, err := load(t, `
models:
  - id: m
    provider: {type: fake}
    credits: {1K: 1}
    cost:
      image: 0.04
      images: [{quality: high, image: {4K: 0.167}}]
      per_million: {text_input: 5, image_input: 8, image_output: 30}
      unit: 0.01
      second: 0.000401
`)
	is.NoErr(err)
	want := engine.Cost{Image: map[imagegen.Tier]imagegen.Micros{"1K": 40_000, "2K": 40_000, "4K": 40_000},
		Images:     []engine.ImageCost{{Quality: "high", Image: map[imagegen.Tier]imagegen.Micros{"4K": 167_000}}},
		PerMillion: engine.TokenCosts{TextInput: 5_000_000, ImageInput: 8_000_000, ImageOutput: 30_000_000},
		Unit:       10_000, Second: 401}
	is.Equal(cmp.Diff(want, models[0].Cost), "")
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
		{"unknown key of a model", head + "    max_image: 2\n", []string{":5:", `model "m"`, `"max_image"`,
			`"max_images"`}},
		{"unknown key of a provider", "models:\n  - id: m\n    provider: {type: fake, colour: red}\n",
			[]string{":3:", `model "m"`, "provider", `"colour"; there are: image, type`}},
		{"unknown key near to none", head + "    colour: red\n",
			[]string{":5:", `"colour"; there are: aliases, cost, credits, id, max_concurrent, max_effort, `}},
		{"key twice", head + "    max_images: 2\n    max_images: 3\n",
			[]string{":6:", `"max_images" stands at line 5 already`}},
		{"input twice", "models:\n  - id: m\n    provider: {type: fal, input: {a: 1, a: 2}}\n",
			[]string{":3:41:", `"a" stands at line 3 already`}},
		{"status twice", "models:\n  - provider: {type: http, statuses: {403: refused, 403: invalid}}\n",
			[]string{":2:", `"403" stands at line 2 already`}},
		{"alias", head + "    ratios: [&auto auto, *auto]\n", []string{":5:26:", "an alias has no place here"}},
		{"alias for a type", "models:\n  - id: &fake fake\n    provider: {type: *fake}\n",
			[]string{":3:", "provider needs a type"}},
		{"no id", "models:\n  - provider: {type: fake}\n    credits: {1K: 1}\n", []string{":2:", "needs an id"}},
		{"no provider", "models:\n  - id: m\n    credits: {1K: 1}\n", []string{`model "m"`, "needs a provider"}},
		{"provider without type", "models:\n  - id: m\n    provider: {}\n", []string{":3:", "needs a type", "fake"}},
		{"unknown provider", "models:\n  - id: m\n    provider: {type: fakes}\n", []string{":3:", `"fakes"`,
			`did you mean "fake"`}},
		{"no prices", "models:\n  - id: m\n    provider: {type: fake}\n", []string{`model "m"`, "needs prices"}},
		{"tier in small letters", "models:\n  - id: m\n    provider: {type: fake}\n    credits: {1k: 1}\n",
			[]string{":4:", `"1k"`, "credits"}},
		{"price of nothing", "models:\n  - id: m\n    provider: {type: fake}\n    credits: {1K: 0}\n",
			[]string{":4:", "credits: 1K", "from 1", "0"}},
		{"half a credit", "models:\n  - id: m\n    provider: {type: fake}\n    credits: {1K: 0.5}\n",
			[]string{":4:", "0.5", "whole number"}},
		{"price missing", "models:\n  - id: m\n    provider: {type: fake}\n    credits: {1K: }\n",
			[]string{":4:", "whole number"}},
		{"unknown effort", head + "    max_effort: {1K: best}\n", []string{":5:", `"best"`, "medium"}},
		{"unknown ratio", head + "    ratios: [7:5]\n", []string{":5:", `"7:5"`, "16:9"}},
		{"no list", head + "    ratios: auto\n", []string{":5:", "ratios", "list"}},
		{"too many references", head + "    max_references: 17\n", []string{":5:", "max_references is 17", "up to 16"}},
		{"no yes or no", head + "    retired: soon\n", []string{":5:", "retired", "true or false"}},
		{"no images", head + "    max_images: 0\n", []string{":5:", "max_images", "from 1"}},
		{"small account type", head + "    only_for: [pro]\n", []string{":5:", "such as PRO; got \"pro\""}},
		{"nobody to send", head + "    send_user: true\n", []string{":5:", "no field for it", "{{end_user}}"}},
		{"no alias", head + "    aliases: []\n", []string{":5:", "aliases: the list is empty"}},
		{"alias of its own name", head + "    aliases: [m]\n", []string{":5:15:", `model "m"`,
			`"m" names a model at line 2 already`}},
		{"alias of another's name", head +
			"    aliases: [n]\n  - id: n\n    provider: {type: fake}\n    credits: {1K: 1}\n",
			[]string{":5:15:", `model "m"`, `"n" names a model at line 6 already`}},
		{"alias twice", head + "    aliases: [a, a]\n", []string{":5:18:", `"a" names a model at line 5 already`}},
		{"a text for a model", "models: [m]\n", []string{":1:", "keys are wanted"}},
		{"id twice", head +
			"  - id: n\n    provider: {type: fake}\n    credits: {1K: 1}\n  - provider: {type: fake}\n    credits: {1K: 1}\n    id: m\n",
			[]string{":10:", `model "m"`, "line 2", "another id"}},
		{"price beyond all accounts",
			"models:\n  - id: m\n    provider: {type: fake}\n    credits: {1K: 9007199254740991}\n",
			[]string{":4:", "credits: 1K", "more than an account"}},
		{"price for an impossible tier", "models:\n  - id: m\n    provider: " + small +
			"\n    credits:\n      1K: 1\n      4K: 4\n",
			[]string{":6:", `model "m"`, "credits", "cannot do tier 4K, only [1K]"}},
		{"no price for a possible tier", "models:\n  - id: m\n    provider: " + small + "\n    credits: {4K: 4}\n",
			[]string{":4:", `model "m"`, "credits", "cannot do tier 4K, only [1K]"}},
		{"impossible ratio", "models:\n  - id: m\n    provider: " + small +
			"\n    credits: {1K: 1}\n    ratios:\n      - auto\n      - 21:9\n",
			[]string{":7:", `model "m"`, "ratios", "cannot do ratio 21:9"}},
		{"a tier that is not on offer", head + "    prices: [{quality: low, credits: {1K: 2, 2K: 3}}]\n",
			[]string{":5:46:",
				"tier 2K is not on offer"}},
		{"a line without credits", head + "    prices: [{quality: low}]\n", []string{":5:14:", `model "m"`, "prices",
			"a line needs credits"}},
		{"a condition that is none", head + "    prices: [{tier: 1K, credits: 2}]\n",
			[]string{":5:", `"tier"; there are: account_type, `}},
		{"no mask", head + "    prices: [{mask: false, credits: 2}]\n", []string{":5:21:", "mask is true or absent"}},
		{"account type in small letters", head + "    prices: [{account_type: pro, credits: 2}]\n",
			[]string{":5:", `"pro"`,
				"capital letters"}},
		{"a line that no request reaches", head + "    prices:\n      - {quality: low, credits: 2}\n      - {quality: low, references: 2, credits: {1K: 1}}\n",
			[]string{":7:9:", `model "m"`, "prices: no request can reach this line"}},
		{"an effort above the cap", head + "    max_effort: {1K: medium}\n    prices: [{quality: high, credits: {1K: 2}}]\n",
			[]string{":6:14:", "no request can reach this line"}},
		{"credits that no request reaches", head + "    prices: [{credits: 2}]\n",
			[]string{":4:", "no request can reach this line"}},
		{"no price at auto", "models:\n  - id: m\n    provider: {type: fake}\n    prices: [{quality: low, credits: {1K: 2}}]\n",
			[]string{":2:", "tier 1K has no price at quality auto"}},
		{"a price that is too high", head + "    prices: [{quality: low, credits: 9007199254740991}]\n",
			[]string{":5:", "more than an account"}},
		{"references that are too dear", head + "    reference_credits: 9007199254740\n    prices: [{quality: low, credits: 1, reference_credits: 900719925474099}]\n",
			[]string{"more than an account can hold"}},
		{"half a millionth", head + "    cost: {image: 0.0000005}\n", []string{":5:19:", "cost: image",
			"at most six decimals"}},
		{"a debt", head + "    cost: {second: -1}\n", []string{":5:20:", "cost: second", "an amount such as 0.04"}},
		{"no amount", head + "    cost: {unit: free}\n", []string{":5:18:", `got "free"`}},
		{"second document", head + "---\nmodel: red\n", []string{"models.yaml:5:1: a second YAML document"}},
		{"a tab", "models:\n  - id: m\n\tcredits: {1K: 1}\n",
			[]string{"models.yaml:3:1: this line is indented with a tab; YAML takes only spaces there"}},
		{"a tab behind spaces", "models:\n  - id: m\n    \tcredits: {1K: 1}\n",
			[]string{"models.yaml:3:5: this line is indented with a tab"}},
		{"no YAML", "models: [\n", []string{"models.yaml: this is not YAML near line 1: did not find"}},
		{"no YAML in a line", "models:\n  - id: m\n  credits: {1K: 1}\n",
			[]string{"models.yaml: this is not YAML near line 1: did not find"}},
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

// A line that only an explicit size can reach is a mistake where the quality decides the tier.
func TestPricesUnderPolicy(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "models.yaml")
	is.NoErr(os.WriteFile(path, []byte(`
models:
  - id: m
    provider: {type: fake}
    credits: {1K: 1, 4K: 4}
    prices: [{quality: low, credits: {4K: 3}}]
`), 0o600))
	_, err := catalog.Load(path, catalog.Options{Policy: "size-first"})
	is.NoErr(err)
	_, err = catalog.Load(path, catalog.Options{Policy: "quality-first"})
	is.True(err != nil && strings.Contains(err.Error(), ":6:14: ") && strings.Contains(err.Error(), "no request"))
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
	is.True(models[0].Provider.(*provider.Fake).Crash == nil)
}

const crashing = "CATALOG_TEST_CRASH"

// TestCrash runs itself in a process that the fake provider kills.
func TestCrash(t *testing.T) {
	if os.Getenv(crashing) != "" {
		defer fmt.Println("survived")
		p := catalog.Default(catalog.Options{AllowCrash: true})[0].Provider
		_, _ = providertest.Read(t.Context(), p, imagegen.ProviderRequest{Prompt: "[fake:crash]", N: 1})
		return
	}
	is := is.New(t)
	self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrash$")
	self.Env = append(os.Environ(), crashing+"=1")
	out, err := self.CombinedOutput()
	is.True(err != nil)
	is.True(!self.ProcessState.Success())
	is.True(!strings.Contains(string(out), "survived")) // no deferred call ran
}
