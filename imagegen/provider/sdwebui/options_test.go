package sdwebui_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
	"github.com/imagegend/imagegend/imagegen/provider/sdwebui"
	"github.com/imagegend/imagegend/imagegen/provider/sdwebui/internal/sdwebuitest"
)

// The web UI counts the seeds of a batch itself.
func TestSeedIsSent(t *testing.T) {
	is := is.New(t)
	d := &sdwebuitest.Server{}
	p := serve(t, d, nil)
	r := providertest.Request("a fox", 3)
	r.Options.Seed = new(int64(0))
	images, err := providertest.Read(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(len(images), 3)
	is.Equal(d.Requests()[0].Params["seed"], 0.0)
	fixed := serve(t, d, func(c *sdwebui.Config) { c.Input = map[string]any{"seed": 7} })
	is.Equal(fixed.Capabilities().MaxSeed, int64(0)) // what is configured would be drawn all the same
	is.Equal(fixed.Capabilities().Metadata, imagegen.MetadataStrip)
}

func TestMaskIsSent(t *testing.T) {
	is := is.New(t)
	d := &sdwebuitest.Server{}
	p := serve(t, d, nil)
	var b bytes.Buffer
	is.NoErr(png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 8, 8))))
	file := providertest.Reference("image/png", b.String(), 8, 8)
	r := providertest.Request("a fox", 1)
	r.References = []imagegen.ProviderReference{file}
	_, err := providertest.Read(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(d.Requests()[0].Params["mask"], nil)
	r.Mask = &file
	_, err = providertest.Read(t.Context(), p, r) // the server looks at the mask
	is.NoErr(err)
	is.True(d.Requests()[1].Params["mask"] != nil)
}
