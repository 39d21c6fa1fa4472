package picture

import (
	"image"
	"image/color"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

func TestCoverCropKeepsTheCentre(t *testing.T) {
	is := is.New(t)
	from := image.NewRGBA(image.Rect(0, 0, 60, 20)) // red, green, blue squares
	for x := range 60 {
		for y := range 20 {
			from.Set(x, y, [...]color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}}[x/20])
		}
	}
	for _, side := range []int{20, 16, 7, 1} {
		got := cover(from, imagegen.Size{Width: side, Height: side})
		is.Equal(got.Bounds(), image.Rect(0, 0, side, side))
		for x := range side {
			for y := range side {
				is.Equal(got.At(x, y), color.RGBA{0, 255, 0, 255}) // nothing of red or blue
			}
		}
	}
}

func TestAverageKeepsTheMean(t *testing.T) {
	is := is.New(t)
	from := image.NewRGBA(image.Rect(0, 0, 90, 70))
	for x := range 90 {
		for y := range 70 {
			from.Set(x, y, color.RGBA{uint8(x * 2), uint8(y * 3), uint8((x + y) % 2 * 255), 255})
		}
	}
	for _, to := range []imagegen.Size{{Width: 89, Height: 69}, {Width: 45, Height: 35}, {Width: 31, Height: 70},
		{Width: 90, Height: 11}, {Width: 1, Height: 1}} {
		got := image.NewRGBA(image.Rect(0, 0, to.Width, to.Height))
		average(got, from, from.Rect)
		is.Equal(got.Bounds().Size(), image.Pt(to.Width, to.Height))
		a, b := meanOf(from), meanOf(got)
		for c := range a {
			is.True(a[c]-b[c] < 2 && b[c]-a[c] < 2)
		}
		is.Equal(got.RGBAAt(0, 0).A, uint8(255))
	}
}

func meanOf(i *image.RGBA) (m [4]float64) {
	for n, v := range i.Pix {
		m[n%4] += float64(v)
	}
	for c := range m {
		m[c] /= float64(len(i.Pix) / 4)
	}
	return m
}

func BenchmarkAverage(b *testing.B) {
	from := image.NewRGBA(image.Rect(0, 0, 2048, 2048))
	b.ReportAllocs()
	for b.Loop() {
		cover(from, imagegen.Size{Width: 1000, Height: 1000})
	}
}
