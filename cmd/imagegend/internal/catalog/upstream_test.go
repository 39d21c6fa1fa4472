package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
)

// Type, address and account tell upstreams apart, and nothing else does: no secret, and not what a model is like.
func TestUpstreams(t *testing.T) {
	const router = "router\n      members:\n        - provider: {type: bfl, key_env: A}\n        - {name: b, provider: {type: openai, key_env: B}}"
	for block, want := range map[string][]string{
		"fake":                  {"fake"},
		"bfl\n      key_env: A": {"bfl key_env=A"},
		"bfl\n      key_env: A\n      name: flux\n      model: flux-dev":                                                 {"bfl key_env=A"},
		"bfl\n      key_env: A\n      base_url: https://API.eu.bfl.ai/v1/":                                               {"bfl base_url=https://api.eu.bfl.ai/v1 key_env=A"},
		"bfl\n      key_file: keys/a":                                                                                    {"bfl key_file=keys/a"},
		"openai\n      organization: o\n      project: p\n      key_env: A\n      base_url: https://x.test/v1?version=2": {"openai base_url=https://x.test/v1 organization=o project=p key_env=A"},
		"sdwebui\n      user: u\n      password_env: A":                                                                  {"sdwebui user=u"},
		router: {"router member bfl: bfl key_env=A",
			"router member b: openai key_env=B"},
		strings.Replace(router, "A}", "C}", 1): {"router member bfl: bfl key_env=C",
			"router member b: openai key_env=B"},
	} {
		t.Run(block, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			is.NoErr(os.Mkdir(filepath.Join(dir, "keys"), 0o700))
			is.NoErr(os.WriteFile(filepath.Join(dir, "keys", "a"), []byte("secret"), 0o600))
			path := filepath.Join(dir, "models.yaml")
			is.NoErr(os.WriteFile(path, []byte("models:\n  - id: m\n    credits: {1K: 1}\n    provider:\n      type: "+
				block+"\n"), 0o600))
			models, err := catalog.Load(path, catalog.Options{Getenv: func(string) string { return "secret" }})
			is.NoErr(err)
			is.Equal(cmp.Diff(want, models[0].Upstreams), "")
		})
	}
}
