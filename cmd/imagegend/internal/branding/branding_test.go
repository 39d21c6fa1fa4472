package branding_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/branding"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen/console"
)

func TestLoad(t *testing.T) {
	is := is.New(t)
	b, err := branding.Load(config.Server{})
	is.NoErr(err)
	is.Equal(cmp.Diff(console.Brand{}, b), "")

	const svg = `<svg xmlns="http://www.w3.org/2000/svg"/>`
	logo := filepath.Join(t.TempDir(), "logo.svg")
	is.NoErr(os.WriteFile(logo, []byte(svg), 0o600))
	b, err = branding.Load(config.Server{BrandName: "Atelier", BrandLogo: logo, BrandAccent: "#0a7d5a"})
	is.NoErr(err)
	is.Equal(cmp.Diff(console.Brand{Name: "Atelier", Logo: []byte(svg), Accent: "#0a7d5a"}, b), "")
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		is.New(t).NoErr(os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	for why, s := range map[string]config.Server{
		"--brand-name cannot be used: it has at most 40":        {BrandName: strings.Repeat("a", 41)},
		"--brand-accent cannot be used: the accent is a colour": {BrandAccent: "green"},
		"check --brand-logo":                           {BrandLogo: filepath.Join(dir, "nothing.svg")},
		"empty.svg cannot be used: it is empty":        {BrandLogo: file("empty.svg", "")},
		"text.svg cannot be used: it is neither":       {BrandLogo: file("text.svg", "a fox")},
		"large.svg cannot be used: it has 65537 bytes": {BrandLogo: file("large.svg", strings.Repeat(" ", 1<<20))},
	} {
		_, err := branding.Load(s)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, not %q", err, why)
		}
	}
}
