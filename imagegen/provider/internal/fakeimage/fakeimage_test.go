package fakeimage_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"runtime"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/provider/internal/fakeimage"
)

func draw(is *is.I, p fakeimage.Picture) []byte {
	raw, err := io.ReadAll(p.PNG())
	is.NoErr(err)
	return raw
}

func decode(is *is.I, raw []byte) image.Image {
	picture, err := png.Decode(bytes.NewReader(raw))
	is.NoErr(err)
	return picture
}

func picture(prompt string) fakeimage.Picture {
	return fakeimage.Picture{Prompt: prompt, Width: 120, Height: 80}
}

func TestAnySize(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {16, 16}, {17, 33}, {16, 1024}, {1024, 16}, {301, 100}} {
		for _, prompt := range []string{"", "fox", "boat", "city at night", "snowy mountains", "desert",
			"forest birds"} {
			t.Run(fmt.Sprint(size, prompt), func(t *testing.T) {
				is := is.New(t)
				p := fakeimage.Picture{Prompt: prompt, Width: size.X, Height: size.Y}
				is.Equal(decode(is, draw(is, p)).Bounds().Size(), size)
			})
		}
	}
}

func TestSamePictureSameBytes(t *testing.T) {
	is := is.New(t)
	is.Equal(draw(is, picture("a fox")), draw(is, picture("a fox")))
	is.Equal(draw(is, picture("a fox")), draw(is, picture(" a  fox\n"))) // space around words says nothing
}

func TestPicturesDiffer(t *testing.T) {
	is := is.New(t)
	seen := map[string]string{}
	for i := range 40 {
		p := picture(fmt.Sprintf("prompt %d", i/2))
		p.Variant = i % 2
		name := fmt.Sprintf("%s, variant %d", p.Prompt, p.Variant)
		raw := string(draw(is, p))
		is.Equal(seen[raw], "") // no other picture looks the same
		seen[raw] = name
	}
}

// light is the mean of all parts of all pixels, from 0 to 255.
func light(picture image.Image) float64 {
	sum, b := 0.0, picture.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			r, g, b, _ := picture.At(x, y).RGBA()
			sum += float64(r>>8+g>>8+b>>8) / 3
		}
	}
	return sum / float64(b.Dx()*b.Dy())
}

func TestWordsDecide(t *testing.T) {
	for _, scene := range []string{"sea", "city", "mountains", "forest", "desert", "hills"} {
		t.Run(scene, func(t *testing.T) {
			is := is.New(t)
			of := func(prompt string) float64 { return light(decode(is, draw(is, picture(prompt)))) }
			is.True(of(scene+", night") < of(scene+", noon")-30)             // night is dark
			is.True(of("Night! A "+scene+" by day") < of(scene+", noon")-30) // the first word counts
		})
	}
}

func TestFoxIsOrange(t *testing.T) {
	is := is.New(t)
	orange := func(prompt string) (n int) {
		p := decode(is, draw(is, picture(prompt)))
		for y := range 80 {
			for x := range 120 {
				c := color.RGBAModel.Convert(p.At(x, y)).(color.RGBA)
				if c.R > 180 && c.G > 80 && c.G < 140 && c.B < 80 {
					n++
				}
			}
		}
		return n
	}
	is.True(orange("a fox in the snow at noon") > 100)
	is.Equal(orange("the snow at noon"), 0)
}

func TestMemoryDoesNotGrowWithTheImage(t *testing.T) {
	const width, height = 2048, 2048
	is := is.New(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := io.Copy(io.Discard, fakeimage.Picture{Prompt: "a boat at sunset", Width: width, Height: height}.PNG())
	is.NoErr(err)
	is.True(n > 0)
	runtime.ReadMemStats(&after)
	is.True(after.TotalAlloc-before.TotalAlloc < 4*width*height/2) // half of what the pixels would take
}
