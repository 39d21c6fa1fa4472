package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// serve runs a server in process until it is ready, in an empty directory with these files.
func serve(t *testing.T, files map[string]string, args ...string) outcome {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout bytes.Buffer
	stderr := &daemontest.UntilReady{End: cancel}
	args = append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)
	code := cli.Run(ctx, args, strings.NewReader(""), &stdout, stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

func TestServeWarns(t *testing.T) {
	const real = "models:\n  - id: m\n    provider: {type: fake}\n    credits: {1K: 1}\n"
	tests := []struct {
		name  string
		args  []string
		warns bool
	}{
		{"other machines can reach it", []string{"--addr", "0.0.0.0:0"}, true},
		{"a proxy stands in front", []string{"--addr", "0.0.0.0:0", "--base-url", "https://images.example.com"}, false},
		{"a proxy without TLS", []string{"--addr", "0.0.0.0:0", "--base-url", "http://images.example.com"}, true},
		{"only this machine", nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			got := serve(t, map[string]string{"models.yaml": real}, test.args...)
			is.Equal(got.code, cli.ExitOK)
			is.Equal(got.stdout, "")
			is.Equal(strings.Contains(got.stderr, "without TLS"), test.warns)
			is.True(strings.Contains(got.stderr, "m by fake (credits 1K 1)"))
		})
	}
}

func TestServeReadsItsFiles(t *testing.T) {
	is := is.New(t)
	got := serve(t, map[string]string{
		"imagegend.yaml": "data-dir: elsewhere\nlog-format: text\n",
		"models.yaml":    "models:\n  - id: m\n    provider: {type: fake}\n    credit: {1K: 1}\n",
	})
	is.Equal(got.code, cli.ExitError)
	is.True(strings.Contains(got.stderr,
		`models.yaml:4:5: models: model "m": unknown key "credit"; did you mean "credits"?`))
	_, err := os.Stat("elsewhere")
	is.True(os.IsNotExist(err))

	got = serve(t, map[string]string{"imagegend.yaml": "data-dir: elsewhere\nlog-format: text\nmodels: fake\n"})
	is.True(strings.Contains(got.stderr, "fake-1 by fake (credits 1K 1, 2K 2, 4K 4)"))
	is.Equal(got.code, cli.ExitOK)
	is.True(strings.Contains(got.stderr, "elsewhere, admin socket admin.sock"))
	here, err := os.Getwd()
	is.NoErr(err)
	is.True(strings.Contains(got.stderr, "config    "+filepath.Join(here, "imagegend.yaml")))
	info, err := os.Stat("elsewhere")
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o700))

	got = serve(t, map[string]string{"imagegend.yaml": "models: fake\n"}) // the log is JSON
	here, err = os.Getwd()
	is.NoErr(err)
	is.True(strings.Contains(got.stderr, `"config":"`+filepath.Join(here, "imagegend.yaml")+`"`))
}

func TestServeWithoutModels(t *testing.T) {
	is := is.New(t)
	got := serve(t, nil)
	is.Equal(got.code, cli.ExitError)
	says(t, got.stderr, "models.yaml", "imagegend serve --dev", "--models FILE", "--models fake")
	left, err := os.ReadDir(".")
	is.NoErr(err)
	is.Equal(len(left), 0) // above all no data directory

	is.Equal(imagegend(t, nil, "provider", "check").stderr, got.stderr)

	got = serve(t, nil, "--dev")
	is.Equal(got.code, cli.ExitOK)
	is.True(strings.Contains(got.stderr, "fake-1 by fake"))
}

// The error about a missing models file says what to do, at a check too.
func TestServeWithoutTheModelsFile(t *testing.T) {
	is := is.New(t)
	got := serve(t, nil, "--models", "modles.yaml")
	is.Equal(got.code, cli.ExitError)
	is.Equal(strings.Count(got.stderr, "\n"), 1)
	says(t, got.stderr, "there is no models file modles.yaml", "docs/operating.md", "--models fake")
	is.Equal(imagegend(t, nil, "provider", "check", "--models", "modles.yaml").stderr, got.stderr)
}
