package cli_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/image/webp"
)

// The options are sent: the format and the size of the file, what is transparent, and what a mask leaves as it was.
func TestGenerateWithOptions(t *testing.T) {
	is := is.New(t)
	env := newService(t, nil)
	args := []string{"generate", "a fox", "--size", "64x64", "--output-format", "webp", "--background", "transparent",
		"--seed", "7"}
	is.Equal(imagegend(t, env, append(args, "-o", "a.webp")...).code, 0)
	is.Equal(imagegend(t, env, append(args, "-o", "b.webp")...).code, 0)
	first, err := os.ReadFile("a.webp")
	is.NoErr(err)
	again, err := os.ReadFile("b.webp")
	is.NoErr(err)
	is.True(bytes.Equal(first, again)) // the seed
	picture, err := webp.Decode(bytes.NewReader(first))
	is.NoErr(err)
	_, _, _, alpha := picture.At(0, 0).RGBA()
	is.Equal(alpha, uint32(0))

	before, mask := image.NewNRGBA(image.Rect(0, 0, 64, 64)), image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for i := range before.Pix {
		before.Pix[i] = 0xff
	}
	for x := range 64 {
		mask.Set(x, 0, color.Black)
	}
	for name, m := range map[string]image.Image{"fox.png": before, "mask.png": mask} {
		f, err := os.Create(name)
		is.NoErr(err)
		is.NoErr(png.Encode(f, m))
		is.NoErr(f.Close())
	}
	is.Equal(imagegend(t, env, "generate", "a fox", "--size", "64x64", "--ref", "fox.png", "--mask", "mask.png", "-o",
		"c.png").code, 0)
	f, err := os.Open("c.png")
	is.NoErr(err)
	defer f.Close()
	after, err := png.Decode(f)
	is.NoErr(err)
	is.Equal(color.NRGBAModel.Convert(after.At(9, 0)), color.NRGBA{255, 255, 255, 255})
	is.True(color.NRGBAModel.Convert(after.At(9, 40)) != color.Color(color.NRGBA{255, 255, 255, 255}))

	for _, lacking := range [][]string{{"--output-compression", "50"}, {"--seed", "4294967296"}} {
		refused := imagegend(t, env, append([]string{"generate", "a fox", "--size", "64x64"}, lacking...)...)
		is.Equal(refused.code, 1)
	}
}
