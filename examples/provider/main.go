// Command provider shows a provider of one's own: stripes in the colour that the prompt names.
package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"iter"
	"log"
	"os"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// stripes paints square pictures of the lowest tier. What it cannot do it declares, so that the
// engine refuses it before anything is charged. To an explicit size the engine scales down.
type stripes struct{}

var _ imagegen.Provider = stripes{}

func (stripes) Name() string { return "stripes" }

func (stripes) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{
		Ratios: []imagegen.Ratio{imagegen.RatioAuto, "1:1"},
		Tiers:  []imagegen.Tier{imagegen.Tier1K},
	}
}

var colours = map[string]color.Color{"red": color.RGBA{200, 30, 30, 255}, "blue": color.RGBA{30, 60, 200, 255}}

func (stripes) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		colour, known := colours[strings.TrimSpace(r.Prompt)]
		if !known {
			yield(imagegen.ProviderImage{}, &imagegen.ProviderError{Class: imagegen.ClassInvalid,
				Message: "no such colour"})
			return
		}
		for range r.N {
			var b bytes.Buffer
			if err := png.Encode(&b, paint(colour, max(1024, r.Size.Width, r.Size.Height))); err != nil {
				yield(imagegen.ProviderImage{}, err)
				return
			}
			if ctx.Err() != nil || !yield(imagegen.ProviderImage{Body: &b}, nil) {
				return
			}
		}
	}
}

func paint(c color.Color, side int) image.Image {
	picture := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.White, c})
	for y := range side {
		for x := range side {
			picture.SetColorIndex(x, y, uint8((x+y)/64%2))
		}
	}
	return picture
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	db := memory.New(nil)
	service, err := engine.New(engine.Config{
		Store:  db,
		Ledger: db,
		Models: []engine.Model{{ID: "stripes-1", Provider: stripes{},
			Credits: map[imagegen.Tier]imagegen.Credits{"1K": 3}}},
	})
	if err != nil {
		return err
	}
	if err := service.Start(); err != nil {
		return err
	}
	defer service.Stop(ctx)
	if _, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 12}); err != nil {
		return err
	}
	for _, prompt := range []string{"red", "purple"} {
		result, err := service.As("alice").Generate(ctx, imagegen.GenerateRequest{Model: "stripes-1", Prompt: prompt,
			N: 2})
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", prompt, err)
			continue
		}
		fmt.Fprintf(out, "%s: %d images, %d credits left\n", prompt, len(result.Images), result.Balance.Credits)
	}
	balance, err := service.As("alice").Balance(ctx)
	fmt.Fprintf(out, "balance: %d\n", balance.Credits)
	return err
}
