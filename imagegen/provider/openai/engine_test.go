package openai_test

import (
	"errors"
	"image/png"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
	"github.com/imagegend/imagegend/imagegen/provider/openai/internal/openaitest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// From the request of a user to the images and the bill.
func TestWithTheEngine(t *testing.T) {
	is := is.New(t)
	upstream := &openaitest.Server{}
	alice := imagegentest.Start(t, func(c *engine.Config) { c.Models[0].Provider = serve(t, upstream, nil) }).
		As(imagegentest.Alice)
	ask := func(prompt, size string, n int) (imagegen.Result, error) {
		z, err := imagegen.ParseSize(size)
		is.NoErr(err)
		photo := providertest.Reference("image/png", string(upstreamtest.PNG(300, 200)), 300, 200)
		return alice.Generate(t.Context(), imagegen.GenerateRequest{Model: imagegentest.Model, Prompt: prompt, Size: z,
			N: n, References: []imagegen.Reference{photo}})
	}

	got, err := ask("as a comic", "1000x750", 2) // is made as 1008x752 and cropped
	is.NoErr(err)
	is.Equal(len(got.Images), 2)
	for _, i := range got.Images {
		is.Equal(imagegen.Size{Width: i.Width, Height: i.Height}, imagegen.Size{Width: 1000, Height: 750})
		file, err := alice.OpenImage(t.Context(), i.ID)
		is.NoErr(err)
		picture, err := png.DecodeConfig(file)
		is.NoErr(err)
		is.NoErr(file.Close())
		is.Equal(imagegen.Size{Width: picture.Width, Height: picture.Height}, imagegen.Size{Width: 1000, Height: 750})
	}
	is.Equal(got.Balance.Credits, imagegen.Credits(98))
	is.Equal(upstream.Requests()[0].Params["size"], "1008x752")
	is.Equal(upstream.Requests()[0].Files[0].Size, len(upstreamtest.PNG(300, 200)))

	_, err = ask("a fox", "4000x4000", 1)
	is.True(errors.Is(err, imagegen.ErrInvalidRequest)) // before anything is asked or charged
	is.Equal(len(upstream.Requests()), 1)

	_, err = ask(openaitest.Forbidden, "auto", 1)
	is.True(errors.Is(err, imagegen.ErrGenerationFailed))
	balance, err := alice.Balance(t.Context())
	is.NoErr(err)
	is.Equal(balance.Credits, imagegen.Credits(98)) // the charge came back
}
