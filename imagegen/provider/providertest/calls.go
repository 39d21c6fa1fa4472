package providertest

import (
	"context"
	"errors"
	"image"
	"io"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

// Request returns a request for n square images of the lowest tier. Its SaveJob does nothing,
// as for work that will not be tried again.
func Request(prompt string, n int) imagegen.ProviderRequest {
	return imagegen.ProviderRequest{Key: "gen_1", Prompt: prompt, N: n, Ratio: "1:1", Tier: imagegen.Tier1K,
		Quality: imagegen.QualityAuto, SaveJob: func(context.Context, []byte) error { return nil }}
}

// Explicit returns a request for one image of an explicit size, written WxH, as the engine would make it.
func Explicit(t testing.TB, p imagegen.Provider, size string) imagegen.ProviderRequest {
	t.Helper()
	z, err := imagegen.ParseSize(size)
	if err != nil {
		t.Fatal(err)
	}
	r := Request("a fox", 1)
	r.Size, r.Tier, r.Ratio = z, imagegen.TierOf(z.Area()),
		imagegen.NearestRatio(z, p.Capabilities().WithDefaults().Ratios)
	return r
}

// Reference returns a reference image with these bytes.
func Reference(mediaType, raw string, width, height int) imagegen.ProviderReference {
	return imagegen.ProviderReference{Reference: &reference{bytes: []byte(raw)}, MediaType: mediaType,
		Size: int64(len(raw)), Width: width, Height: height}
}

// Read returns the bytes of the images, and the error with which the call ended. An image
// that breaks off counts as not delivered.
func Read(ctx context.Context, p imagegen.Provider, r imagegen.ProviderRequest) (images []string, ended error) {
	for i, err := range p.Generate(ctx, r) {
		if err != nil {
			return images, err
		}
		if raw, err := io.ReadAll(i.Body); err == nil {
			images = append(images, string(raw))
		}
	}
	return images, nil
}

// Collect is Read, but returns the sizes of the images; the zero size for an image whose header cannot be read.
func Collect(ctx context.Context, p imagegen.Provider, r imagegen.ProviderRequest) (sizes []imagegen.Size,
	ended error) {
	images, ended := Read(ctx, p, r)
	for _, raw := range images {
		c, _, _ := image.DecodeConfig(strings.NewReader(raw))
		sizes = append(sizes, imagegen.Size{Width: c.Width, Height: c.Height})
	}
	return sizes, ended
}

// Error returns the ProviderError in err, and fails the test if there is none.
func Error(t testing.TB, err error) *imagegen.ProviderError {
	t.Helper()
	e, ok := errors.AsType[*imagegen.ProviderError](err)
	if !ok {
		t.Fatalf("%v is not a ProviderError", err)
	}
	return e
}
