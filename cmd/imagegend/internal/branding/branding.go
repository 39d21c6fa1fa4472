// Package branding makes of settings what the console shows of the operator.
package branding

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen/console"
)

// Load reads the logo and checks all that --brand-name, --brand-logo and --brand-accent say. An error names the
// flag, and says what to do.
func Load(s config.Server) (console.Brand, error) {
	logo, err := read(s.BrandLogo)
	if err != nil {
		return console.Brand{}, fmt.Errorf("the logo cannot be read; check --brand-logo: %w", err)
	}
	for _, part := range []struct {
		flag  string
		brand console.Brand
	}{
		{"--brand-name", console.Brand{Name: s.BrandName}},
		{"--brand-logo " + s.BrandLogo, console.Brand{Logo: logo}},
		{"--brand-accent", console.Brand{Accent: s.BrandAccent}},
	} {
		if err := part.brand.Check(); err != nil {
			_, why, _ := strings.Cut(err.Error(), ": ")
			return console.Brand{}, fmt.Errorf("%s does not do: %s", part.flag, why)
		}
	}
	return console.Brand{Name: s.BrandName, Logo: logo, Accent: s.BrandAccent}, nil
}

// read reads a file, and of a large one enough that it is found too large; nil where none is named.
func read(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, console.MaxLogo+1))
	if b == nil {
		b = []byte{} // an empty file is one too
	}
	return b, err
}
