package fakeimage_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/imagegend/imagegend/imagegen/provider/internal/fakeimage"
)

func BenchmarkPNG(b *testing.B) {
	for _, size := range [][2]int{{1024, 1024}, {2048, 2048}, {3840, 2160}} {
		for _, prompt := range []string{"a fox in the snow, at dawn", "a boat at sunset", "a city at night",
			"a forest in summer"} {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], prompt), func(b *testing.B) {
				b.ReportAllocs()
				var bytes int64
				for b.Loop() {
					bytes, _ = io.Copy(io.Discard, fakeimage.Picture{Prompt: prompt, Width: size[0],
						Height: size[1]}.PNG())
				}
				b.ReportMetric(float64(bytes)/1024, "KiB/image")
			})
		}
	}
}
