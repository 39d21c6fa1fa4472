package replicate_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted/hostedtest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
	"github.com/imagegend/imagegend/imagegen/provider/replicate"
)

// optional gives Input a place for what such models have.
func optional(c *replicate.Config) {
	c.Input["seed"], c.Input["output_format"], c.Input["mask"] = "{{seed}}", "{{format}}", "{{white_mask}}"
	c.FormatNames = map[imagegen.Format]string{"png": "png", "jpeg": "jpg", "webp": "webp"}
}

func TestProviderWithOptions(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New:       func(t *testing.T) imagegen.Provider { return serve(t, double(), optional) },
		Endless:   hostedtest.Endless,
		SavesJobs: true,
		Sample:    true,
	})
}

// A mask is white where that of the request is transparent, and black elsewhere.
func TestWhiteMask(t *testing.T) {
	is := is.New(t)
	hole := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	hole.Set(1, 1, color.NRGBA{R: 9, A: 1})
	var b bytes.Buffer
	is.NoErr(png.Encode(&b, hole))
	mask := providertest.Reference("image/png", b.String(), 3, 2)
	d := double()
	p := serve(t, d, optional)
	r := providertest.Request("a fox", 1)
	r.References, r.Mask = []imagegen.ProviderReference{mask}, &mask
	_, err := providertest.Read(t.Context(), p, r)
	is.NoErr(err)
	sent := strings.TrimPrefix(fmt.Sprint(d.Sent()[0].Fields["mask"]), "data:image/png;base64,")
	raw, err := base64.StdEncoding.DecodeString(sent)
	is.NoErr(err)
	white, err := png.Decode(bytes.NewReader(raw))
	is.NoErr(err)
	is.Equal(white.(*image.Gray).Pix, []byte{255, 255, 255, 255, 0, 255})

	broken := providertest.Reference("image/png", "no mask", 3, 2)
	r.Mask = &broken
	_, err = providertest.Read(t.Context(), p, r)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassInvalid)
	is.Equal(len(d.Sent()), 1)
}
