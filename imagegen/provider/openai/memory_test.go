package openai_test

import (
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// hollow is a PNG of 4096 x 4096 pixels, whole but for its pixels: so many bytes that nobody looks at.
func hollow(bytes int) []byte {
	image := []byte("\x89PNG\r\n\x1a\n")
	for _, chunk := range [][]byte{[]byte("IHDR\x00\x00\x10\x00\x00\x00\x10\x00\x08\x02\x00\x00\x00"),
		append([]byte("IDAT\x78\x9c"), make([]byte, bytes)...), []byte("IEND")} {
		image = binary.BigEndian.AppendUint32(image, uint32(len(chunk)-4))
		image = binary.BigEndian.AppendUint32(append(image, chunk...), crc32.ChecksumIEEE(chunk))
	}
	return image
}

// An image of 50 MB goes from the upstream to the disk through memory for a small part of it.
func TestALargeImageInFlatMemory(t *testing.T) {
	is := is.New(t)
	image := hollow(50_000_000)
	s := engineOnDisk(t, answering(t, image), 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := s.Generate(t.Context(), imagegen.GenerateRequest{Model: imagegentest.Model, Prompt: "a fox",
		Size: imagegen.Size{Width: 4096, Height: 4096}})
	is.NoErr(err)
	runtime.ReadMemStats(&after)
	is.True(after.TotalAlloc-before.TotalAlloc < uint64(len(image))) // a third; pools leak under the race detector
	f, err := s.OpenImage(t.Context(), got.Images[0].ID)
	is.NoErr(err)
	defer f.Close()
	is.Equal(f.Size, int64(len(image)))
}
