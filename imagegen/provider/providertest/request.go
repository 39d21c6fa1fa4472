package providertest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // the formats that a provider may yield
	_ "image/png"
	"io"
	"slices"
	"sync/atomic"
	"testing"

	_ "golang.org/x/image/webp"

	"github.com/imagegend/imagegend/imagegen"
)

// keys counts requests, so that each has a Key of its own.
var keys atomic.Int64

// request returns a request for one image, a small one if the provider makes it, which keeps the suite quick.
func (c Config) request(p imagegen.Provider) imagegen.ProviderRequest {
	r := imagegen.ProviderRequest{
		Key: fmt.Sprintf("gen_%d", keys.Add(1)), Prompt: c.Prompt, N: 1,
		Ratio: ratios(p)[0], Tier: tiers(p)[0], Quality: imagegen.QualityAuto,
		SaveJob: func(context.Context, []byte) error { return nil },
	}
	small := r
	small.Size = imagegen.Size{Width: 64, Height: 64}
	small.Ratio, small.Tier = imagegen.NearestRatio(small.Size, ratios(p)), imagegen.Tier1K
	if slices.Contains(tiers(p), small.Tier) && imagegen.CheckRequest(p, small) == nil {
		return small
	}
	return r
}

// ratios are the declared ones, without RatioAuto unless there is no other.
func ratios(p imagegen.Provider) []imagegen.Ratio {
	declared := p.Capabilities().WithDefaults().Ratios
	shaped := slices.DeleteFunc(slices.Clone(declared), func(r imagegen.Ratio) bool { return r.Aspect() == 0 })
	if len(shaped) == 0 {
		return []imagegen.Ratio{imagegen.RatioAuto}
	}
	return shaped
}

func tiers(p imagegen.Provider) []imagegen.Tier { return p.Capabilities().WithDefaults().Tiers }

func maxImages(p imagegen.Provider) int {
	return min(p.Capabilities().WithDefaults().MaxImages, imagegen.MaxImages)
}

// collect ranges over a call to its end and returns the sizes of the images, each of which has been
// decoded, and the error that the call ended with. The test fails if an image cannot be decoded, or something follows
// the error.
func collect(t *testing.T, ctx context.Context, p imagegen.Provider, r imagegen.ProviderRequest) (sizes []imagegen.Size,
	ended error) {
	t.Helper()
	defer watchUse(t, &r)()
	for i, e := range p.Generate(ctx, r) {
		if ended != nil {
			t.Errorf("something was yielded after the error %q", ended)
			return sizes, ended
		}
		if e != nil {
			ended = e
			continue
		}
		size, err := decode(i)
		if err != nil {
			t.Errorf("image %d: %v", len(sizes)+1, err)
			return sizes, nil
		}
		sizes = append(sizes, size)
	}
	return sizes, ended
}

func decode(i imagegen.ProviderImage) (imagegen.Size, error) {
	if i.Body == nil {
		return imagegen.Size{}, fmt.Errorf("it has no body")
	}
	raw, err := io.ReadAll(i.Body)
	if err != nil {
		return imagegen.Size{}, fmt.Errorf("reading: %w", err)
	}
	picture, format, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return imagegen.Size{}, fmt.Errorf("decoding %d bytes: %w", len(raw), err)
	}
	if !slices.Contains([]string{"png", "jpeg", "webp"}, format) {
		return imagegen.Size{}, fmt.Errorf("it is %s; the formats are PNG, JPEG and WebP", format)
	}
	return imagegen.Size{Width: picture.Bounds().Dx(), Height: picture.Bounds().Dy()}, nil
}
