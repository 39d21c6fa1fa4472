// Package branding turns the settings of the operator's name, logo and colour into the brand that the console shows.
// What a brand may be, the console decides; this package reads the file and names the setting that is wrong.
package branding

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen/console"
)

// Load reads the logo and checks --brand-name, --brand-logo and --brand-accent. Without any of them it returns the
// zero Brand, which is the console's own. An error names the flag and says what to do.
func Load(s config.Server) (console.Brand, error) {
	logo, err := readLogo(s.BrandLogo)
	if err != nil {
		return console.Brand{}, fmt.Errorf("the logo cannot be read; check --brand-logo: %w", err)
	}
	// Each part is checked by itself, so that the error can name the flag that it comes from.
	for _, part := range []struct {
		flag  string
		brand console.Brand
	}{
		{"--brand-name", console.Brand{Name: s.BrandName}},
		{"--brand-logo " + s.BrandLogo, console.Brand{Logo: logo}},
		{"--brand-accent", console.Brand{Accent: s.BrandAccent}},
	} {
		if err := part.brand.Check(); err != nil {
			// The check names the field of Brand; the operator knows the flag.
			_, why, _ := strings.Cut(err.Error(), ": ")
			return console.Brand{}, fmt.Errorf("%s cannot be used: %s", part.flag, why)
		}
	}
	return console.Brand{Name: s.BrandName, Logo: logo, Accent: s.BrandAccent}, nil
}

// readLogo reads a file; nil if none is named. Of a file that is too large it reads one byte more than is allowed, so
// that Check refuses it.
func readLogo(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, console.MaxLogo+1)) // of an empty file not nil, so that Check refuses it
}
