package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/bfl"
	"github.com/imagegend/imagegend/imagegen/provider/comfyui"
	"github.com/imagegend/imagegend/imagegen/provider/fal"
	"github.com/imagegend/imagegend/imagegen/provider/gemini"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/provider/replicate"
	"github.com/imagegend/imagegend/imagegen/provider/router"
	"github.com/imagegend/imagegend/imagegen/provider/sdwebui"
	"github.com/imagegend/imagegend/imagegen/provider/webapi"
)

const secret = "s3cret-value"

// files that lie beside models.yaml.
var files = map[string]string{
	"models.yaml":  "",
	"key":          secret + "\n",
	"empty":        "\n",
	"account.json": serviceAccount,
	"w.json":       `{"1": {"class_type": "X", "inputs": {"a": "{{prompt}} {{width}} {{height}} {{seed}}"}}}`,
	"ref.json":     `{"1": {"class_type": "X", "inputs": {"a": "{{prompt}} {{width}} {{height}} {{seed}} {{ref1}}"}}}`,
	"broken.json":  `{"1": {"class_type": "X", "inputs": {"a": "{{promt}}"}}}`,
}

// loadProvider reads one model whose provider begins at line 3.
func loadProvider(t *testing.T, block string) (imagegen.Provider, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := "models:\n- id: m\n  provider:" + strings.ReplaceAll(block, "\n", "\n    ") + "\n  credits: {1K: 1}\n"
	path := filepath.Join(dir, "models.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"KEY": secret}
	models, err := catalog.Load(path, catalog.Options{Getenv: func(name string) string { return env[name] }})
	if err != nil {
		return nil, err
	}
	return models[0].Provider, nil
}

func TestProviders(t *testing.T) {
	const rules = "size_rules: {step: 16, min_edge: 64, max_edge: 2048, min_pixels: 4096, max_pixels: 4194304, max_aspect: 4}"
	tests := []struct {
		name, block string
		is          func(imagegen.Provider) bool
		references  int
		tiers       int // 0: all
	}{
		{"openai", " {type: openai, key_env: KEY}", as[*openai.Provider], 16, 3},
		{"openai with everything", `
type: openai
name: cloud
base_url: https://example.com/v1?api-version=1
key_file: key
key_header: api-key
organization: o
project: p
model: m
` + rules + `
no_auto: true
no_quality: true
max_references: 3
max_per_call: 2
max_prompt: 100
output_format: webp
output_compression: 0
background: transparent
input_fidelity: high
complexity: low
quality_names: {high: max}
moderation: low
image_hosts: ["*.example.com"]`, as[*openai.Provider], 3, 2},
		{"openai with sizes",
			" {type: openai, private: true, base_url: 'http://127.0.0.1:1', sizes: [1024x1024, 1344x768], max_references: 0}", as[*openai.Provider], 0, 1},
		{"gemini", " {type: gemini, key_env: KEY}", as[*gemini.Provider], 14, 3},
		{"gemini of one tier", " {type: gemini, key_env: KEY, name: g, model: x, tiers: [1K], max_references: 0}",
			as[*gemini.Provider], 0, 1},
		{"gemini with sizes",
			" {type: gemini, private: true, base_url: 'http://127.0.0.1:1', sizes: {1:1: 1024x1024}, max_references: 2}", as[*gemini.Provider], 2, 3},
		{"sdwebui", " {type: sdwebui}", as[*sdwebui.Provider], 1, 3},
		{"sdwebui with everything", `
type: sdwebui
name: gpu
base_url: http://10.0.0.7:7860
user: u
password_env: KEY
checkpoint: c
best_edge: 512
steps: {low: 5, medium: 6, high: 7}
guidance: 5.5
sampler: Euler a
scheduler: Karras
negative_prompt: blurry
upscaler: Lanczos
hires_denoising: 0.5
input: {styles: [film], prompt: "{{prompt}} <lora:x:1>"}
reference_denoising: 1`, as[*sdwebui.Provider], 1, 3},
		{"comfyui", " {type: comfyui, name: c, base_url: 'http://127.0.0.1:1', workflows: [w.json, ref.json], key_env: KEY, key_header: x, best_edge: 768, steps: {low: 1}}",
			as[*comfyui.Provider], 1, 3},
		{"bfl", " {type: bfl, key_env: KEY}", as[*bfl.Provider], 8, 2},
		{"bfl with everything", `
type: bfl
name: flux
base_url: https://api.eu.bfl.ai/v1
key_env: KEY
model: flux-2-max
` + rules + `
max_references: 0
max_prompt: 10
output_format: png
safety_tolerance: 0
poll_interval: 2s
image_hosts: ["*.bfl.ai"]
private: false`, as[*bfl.Provider], 0, 2},
		{"replicate", `
type: replicate
key_env: KEY
name: r
base_url: https://example.com/v1
model: black-forest-labs/flux-2-pro
input: {prompt: "{{prompt}}", width: "{{width}}", height: "{{height}}", number: "{{n}}", tier: "{{tier}}", images: "{{references}}", seed: "{{seed}}", format: "{{format}}", background: "{{background}}", mask: "{{mask}}", safe: true, depth: {a: [1, 0.5]}}
` + rules + `
tier_names: {1K: 1 MP, 2K: 4 MP}
format_names: {png: png, jpeg: jpg}
max_references: 8
max_per_call: 2
max_prompt: 10
poll_interval: 2s
image_hosts: [replicate.delivery]`, as[*replicate.Provider], 8, 2},
		{"replicate deployment",
			" {type: replicate, private: true, deployment: a/b, input: {p: '{{prompt}}'}, sizes: [1024x1024]}",
			as[*replicate.Provider], 0, 1},
		{"fal", `
type: fal
key_env: KEY
name: f
base_url: https://example.com
platform_url: https://example.com/v1
model: fal-ai/flux-2-pro
edit_model: fal-ai/flux-2-pro/edit
` + rules + `
max_references: 8
max_per_call: 2
max_prompt: 10
poll_interval: 2s
image_hosts: [fal.media]`, as[*fal.Provider], 8, 2},
		{"fal with input",
			" {type: fal, private: true, model: a/b, input: {p: '{{prompt}}', t: '{{tier}}', f: '{{format}}'}, tier_names: {1K: low}, format_names: {webp: webp}, sizes: [1024x1024, 2048x2048]}", as[*fal.Provider], 0, 2},
		{"http", `
type: http
name: any
base_url: https://example.com/v1?v=1
key_env: KEY
key_header: X-Key
key_prefix: "Key "
headers: {X-Title: us}
path: /draw
edit_path: /edit
input: {p: "{{prompt}}", s: "{{size}}", n: "{{n}}", f: "{{format}}"}
edit_input: {p: "{{prompt}}", s: "{{size}}", n: "{{n}}", f: "{{format}}", r: ["{{each_reference}}"]}
form: edits
encoding: base64
` + rules + `
tier_names: {1K: low}
format_names: {jpeg: jpg}
ratio_names: {16:9: 16x9}
max_references: 5
max_per_call: 2
max_prompt: 10
images: [a.b, c]
errors: [e]
refusals: [no]
statuses: {403: refused, 503: rate_limited}
imageless: invalid
probe: /ping
image_hosts: [example.com]`, as[*webapi.Provider], 5, 2},
		{"http of one's own",
			" {type: http, private: true, base_url: 'http://127.0.0.1:1', path: /x, input: {p: '{{prompt}}'}, sizes: [1024x1024], images: [a]}", as[*webapi.Provider], 0, 1},
		{"router", `
type: router
name: both
retries: 2
backoff: 2s
failure_threshold: 3
open_for: 1m
members:
  - {name: first, weight: 3, max_concurrent: 8, provider: {type: openai, key_env: KEY, max_references: 4}}
  - provider: {type: router, members: [{provider: {type: bfl, key_env: KEY}}]}`, as[*router.Provider], 8, 3},
	}
	seen := map[string]bool{}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			p, err := loadProvider(t, test.block)
			is.NoErr(err)
			is.True(test.is(p))
			is.Equal(p.Capabilities().MaxReferences, test.references)
			is.Equal(len(p.Capabilities().Tiers), test.tiers)
		})
		for name := range catalog.Keys() {
			seen[name] = seen[name] || strings.Contains(test.block, "type: "+name)
		}
	}
	is := is.New(t)
	delete(seen, "fake")
	for name, tested := range seen {
		if !tested {
			t.Errorf("%s is not tested", name)
		}
	}
	is.True(len(seen) > 0)
}

func as[P imagegen.Provider](p imagegen.Provider) bool { _, ok := p.(P); return ok }

func TestMistakesOfProvidersAreNamed(t *testing.T) {
	tests := []struct {
		name, block string
		want        []string
	}{
		{"key in the file", " {type: openai, key: " + secret + "}", []string{":3:", "key: a secret has no place",
			"key_env: NAME", "key_file: PATH"}},
		{"key by another name", "\ntype: gemini\napi_key: " + secret, []string{":5:", "api_key: a secret has no place",
			"key_env"}},
		{"password in the file", " {type: sdwebui, user: u, password: " + secret + "}", []string{"password: a secret",
			"password_env", "password_file"}},
		{"key in a member", " {type: router, members: [{provider: {type: bfl, key: " + secret + "}}]}",
			[]string{":3:", "members: provider: key: a secret"}},
		{"key for a name", " {type: openai, key_env: " + secret + "}", []string{":3:", "key_env",
			"name of an environment variable", "never the secret"}},
		{"misspelt type", " {type: openia}", []string{`unknown type of provider "openia"; did you mean "openai"?`}},
		{"no such type", " {type: midjourney}",
			[]string{`unknown type of provider "midjourney"; there are: bfl, comfyui,`}},
		{"no key", " {type: openai}", []string{":3:", "the option key_env or key_file is required"}},
		{"no key for fal", " {type: fal, model: a/b, sizes: [1024x1024]}",
			[]string{"the option key_env or key_file is required"}},
		{"variable not set", " {type: openai, key_env: OTHER_KEY}", []string{":3:", "key_env", "OTHER_KEY is not set"}},
		{"two keys", " {type: openai, key_env: KEY, key_file: key}", []string{"key_env and key_file", "leave one"}},
		{"key file is not there", " {type: openai, key_file: nowhere}", []string{":3:", "key_file", "cannot be read",
			"no such file"}},
		{"key for a file", " {type: openai, key_file: " + secret + "}", []string{":3:", "key_file",
			"the path of a file", "never the secret"}},
		{"key file is empty", " {type: openai, key_file: empty}", []string{"key_file", "empty"}},
		{"field of the constructor", "\ntype: openai\nkey_env: KEY\nmax_per_call: 11",
			[]string{":6:", "option max_per_call is 11", "from 1 to 10"}},
		{"two fields", "\ntype: sdwebui\nuser: u",
			[]string{":5:", "user and password_env or password_file belong together"}},
		{"unknown key", " {type: openai, modell: x}", []string{":3:", `"modell"`, `did you mean "model"`}},
		{"key of another type", " {type: gemini, key_env: KEY, no_quality: true}",
			[]string{`unknown key "no_quality"`}},
		{"http", " {type: openai, key_env: KEY, base_url: 'http://example.com'}", []string{"http", "private"}},
		{"unknown tier", " {type: gemini, key_env: KEY, tiers: [1k]}", []string{"tiers", "1K, 2K", `"1k"`}},
		{"family of sizes", " {type: gemini, key_env: KEY, sizes: gemini-4}", []string{"sizes", "names with values"}},
		{"size", " {type: openai, key_env: KEY, sizes: [1024]}", []string{"sizes", "WIDTHxHEIGHT", `"1024"`}},
		{"size auto", " {type: openai, key_env: KEY, sizes: [auto]}", []string{"sizes", `"auto"`}},
		{"no sizes", " {type: openai, key_env: KEY, sizes: []}", []string{"sizes", "empty"}},
		{"no rules", " {type: fal, key_env: KEY, model: a/b}", []string{"option size_rules", "step, max_edge"}},
		{"rules in part", " {type: bfl, key_env: KEY, size_rules: {step: 16}}", []string{"size_rules", "max_edge"}},
		{"yes", " {type: openai, key_env: KEY, no_auto: 1}", []string{"no_auto", "true or false"}},
		{"no number", " {type: sdwebui, guidance: 0}", []string{"guidance", "above 0"}},
		{"text for a number", " {type: sdwebui, guidance: '7'}", []string{"guidance", "number"}},
		{"number of nothing", " {type: openai, key_env: KEY, max_per_call: 0}", []string{"max_per_call", "0"}},
		{"duration without unit", " {type: bfl, key_env: KEY, poll_interval: 500}", []string{"poll_interval", "500ms"}},
		{"tolerance", "\ntype: bfl\nkey_env: KEY\nsafety_tolerance: 7",
			[]string{":6:", "option safety_tolerance is 7"}},
		{"placeholder without quotes", " {type: fal, key_env: KEY, model: a/b, input: {prompt: {{prompt}}}}",
			[]string{"input", "quotes"}},
		{"unknown placeholder",
			" {type: replicate, key_env: KEY, model: a/b, input: {p: '{{prompt}}', q: '{{promt}}'}, sizes: [1024x1024]}", []string{"option input", "{{promt}}"}},
		{"workflow is not there", " {type: comfyui, workflows: [nowhere.json]}", []string{"workflows", "nowhere.json",
			"no such file"}},
		{"broken workflow", " {type: comfyui, workflows: [w.json, broken.json]}", []string{":3:", "workflow 2", "{{"}},
		{"no workflow", " {type: comfyui}", []string{"workflow is required"}},
		{"class", "\ntype: http\nkey_env: KEY\nstatuses: {403: forbidden}", []string{":6:", "statuses", "blocked",
			`"forbidden"`}},
		{"status", "\ntype: http\nkey_env: KEY\nstatuses: {no: refused}", []string{":6:", "statuses", "whole number",
			`"no"`}},
		{"status of success",
			" {type: http, key_env: KEY, base_url: 'https://a.b', path: /x, images: [a], statuses: {200: refused}}",
			[]string{"option statuses holds 200"}},
		{"no path", " {type: http, key_env: KEY, base_url: 'https://a.b', images: [a]}", []string{"option path"}},
		{"nowhere to look", " {type: http, key_env: KEY, base_url: 'https://a.b', path: /x}",
			[]string{"option images is empty", "data[].b64_json"}},
		{"a secret header",
			" {type: http, key_env: KEY, base_url: 'https://a.b', path: /x, images: [a], headers: {authorization: x}}",
			[]string{"headers holds Authorization"}},
		{"edits without references",
			" {type: http, key_env: KEY, base_url: 'https://a.b', path: /x, images: [a], edit_input: {p: '{{prompt}}'}}",
			[]string{"edit_input is set", "max_references is 0"}},
		{"edits that drop them",
			" {type: http, key_env: KEY, base_url: 'https://a.b', path: /x, images: [a], sizes: [1024x1024], max_references: 1, input: {p: '{{prompt}}'}, edit_input: {p: '{{prompt}}'}}",
			[]string{"option edit_input", "{{reference}}"}},
		{"name of a quality", " {type: openai, key_env: KEY, quality_names: {best: max}}", []string{"quality_names",
			`"best"`}},
		{"compression", " {type: openai, key_env: KEY, output_compression: 101}", []string{"output_compression",
			"from 0 to 100"}},
		{"member without provider", " {type: router, members: [{name: a}]}", []string{"members", "needs a provider"}},
		{"members of one name", " {type: router, members: [{provider: {type: fake}}, {provider: {type: fake}}]}",
			[]string{`"fake"`, "a name of its own"}},
		{"no members", " {type: router}", []string{"members is empty"}},
		{"negative weight", " {type: router, members: [{weight: -1, provider: {type: fake}}]}",
			[]string{"weight", "from 0"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			_, err := loadProvider(t, test.block)
			is.True(err != nil)
			for _, want := range append(test.want, "models.yaml", `model "m"`, "provider") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			is.True(!strings.Contains(err.Error(), secret))
		})
	}
}

// A file that holds more than the key is refused, and its content is not repeated.
func TestKeyFileWithMore(t *testing.T) {
	is := is.New(t)
	_, err := loadProvider(t, " {type: openai, key_file: models.yaml}")
	is.True(err != nil && strings.Contains(err.Error(), "line break"))
	is.True(!strings.Contains(err.Error(), "credits"))
}

func TestKeyFileThatOthersCanChange(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "key")
	is.NoErr(os.WriteFile(path, []byte(secret), 0o600))
	for mode, ok := range map[os.FileMode]bool{0o666: false, 0o644: false, 0o620: false, 0o640: true, 0o400: true} {
		is.NoErr(os.Chmod(path, mode))
		_, err := loadProvider(t, " {type: openai, key_file: "+path+"}")
		is.Equal(err == nil, ok)
		if !ok {
			is.True(strings.Contains(err.Error(), "others can read or change") &&
				strings.Contains(err.Error(), "chmod 600 "+path))
		}
	}
}

// The error about a local server without TLS names the key that permits it.
func TestLocalUpstreamNeedsToBePrivate(t *testing.T) {
	_, err := loadProvider(t, " {type: openai, key_env: KEY, base_url: 'http://127.0.0.1:1'}")
	if err == nil || !strings.Contains(err.Error(), "private: true") {
		t.Errorf("%v does not name the key", err)
	}
}

// Every key takes or refuses any value: each field that is a key can be read.
func TestEveryKeyTakesOrRefuses(t *testing.T) {
	for kind, keys := range catalog.Keys() {
		for _, key := range keys {
			for _, value := range []string{"1", "-1", "1.5", "a", "true", "~", "[1]", "[a, {a: 1}]", "{1: 1}",
				"{a: {a: [1]}}"} {
				_, err := loadProvider(t, " {type: "+kind+", "+key+": "+value+"}")
				if err != nil && !strings.Contains(err.Error(), "models.yaml:3:") {
					t.Errorf("%s of %s as %s: %v tells no place", key, kind, value, err)
				}
			}
		}
	}
}
