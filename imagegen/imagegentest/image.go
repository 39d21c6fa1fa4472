package imagegentest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"strings"
	"testing/iotest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// exactSizes: an explicit size is what comes, to the pixel.
func (s *suite) exactSizes() {
	for _, size := range []imagegen.Size{{Width: 16, Height: 16}, {Width: 101, Height: 67}, {Width: 31, Height: 93},
		{Width: 300, Height: 100}} {
		got := s.generated(imagegen.GenerateRequest{Size: size})
		s.is.Equal(got.Size, size)
		s.is.Equal(imagegen.Size{Width: got.Images[0].Width, Height: got.Images[0].Height}, size)
		f, err := s.Alice.OpenImage(s.Context(), got.Images[0].ID)
		s.is.NoErr(err)
		c, format, err := image.DecodeConfig(f)
		s.is.NoErr(err)
		s.is.NoErr(f.Close())
		s.is.Equal(imagegen.Size{Width: c.Width, Height: c.Height}, size)
		s.is.Equal("image/"+format, got.Images[0].MediaType)
	}
}

func (s *suite) images() {
	got := s.generated(imagegen.GenerateRequest{N: 2, Size: imagegen.Size{Width: 200, Height: 200}})
	for _, i := range got.Images {
		f, err := s.Bob.OpenImage(s.Context(), i.ID)
		s.is.NoErr(err)
		b, err := io.ReadAll(f)
		s.is.NoErr(err)
		s.is.Equal(f.ID, i.ID)
		s.is.Equal(f.MediaType, "image/png")
		s.is.Equal(f.MediaType, i.MediaType)
		s.is.Equal(f.Size, int64(len(b)))
		s.is.Equal(f.ETag, fmt.Sprintf("%x", sha256.Sum256(b)))
		s.is.True(f.CreatedAt.Truncate(time.Second).Equal(i.CreatedAt.Truncate(time.Second)))
		s.seeks(f, b)
		s.is.NoErr(f.Close())
	}
}

// seeks reads an open image from everywhere.
func (s *suite) seeks(f io.ReadSeeker, want []byte) {
	size := int64(len(want))
	for _, to := range []struct {
		offset int64
		whence int
		at     int64
	}{
		{0, io.SeekStart, 0}, {10, io.SeekStart, 10}, {-7, io.SeekEnd, size - 7}, {0, io.SeekEnd, size},
		{-size, io.SeekCurrent, 0}, {1, io.SeekStart, 1}, {5, io.SeekEnd, size + 5},
	} {
		at, err := f.Seek(to.offset, to.whence)
		s.is.NoErr(err)
		s.is.Equal(at, to.at)
		if at == 10 { // leave off in the middle
			part := make([]byte, 20)
			_, err := io.ReadFull(f, part)
			s.is.NoErr(err)
			s.is.True(bytes.Equal(part, want[10:30]))
			continue
		}
		rest, err := io.ReadAll(f)
		s.is.NoErr(err)
		s.is.True(bytes.Equal(rest, want[min(at, size):]))
		_, err = f.Seek(size, io.SeekStart)
		s.is.NoErr(err)
	}
	_, err := f.Seek(-1, io.SeekStart)
	s.is.True(err != nil)
}

func (s *suite) unknownImages() {
	known := s.generated(imagegen.GenerateRequest{}).Images[0].ID
	last := "A"
	if strings.HasSuffix(string(known), last) {
		last = "B"
	}
	guessed := known[:len(known)-1] + imagegen.ImageID(last)
	for _, id := range []imagegen.ImageID{"", "image_", guessed, known + "A", "..", "a/b", "../" + known} {
		_, err := s.Alice.OpenImage(s.Context(), id)
		s.fails(err, imagegen.ErrNotFound)
	}
}

func (s *suite) references() {
	var all []imagegen.Reference
	for i := range imagegen.MaxReferences {
		all = append(all, picture(30+i, 30))
	}
	for _, async := range []bool{false, true} {
		got := s.generated(imagegen.GenerateRequest{References: all, Async: async})
		s.is.Equal(got.ReferenceCount, imagegen.MaxReferences)
		done := s.ended(got.ID)
		s.is.Equal(done.Status, imagegen.StatusSucceeded)
		s.is.Equal(done.ReferenceCount, imagegen.MaxReferences)
	}
}

func (s *suite) unfitReferences() {
	whole := picture(30, 30)
	for name, bad := range map[string]imagegen.Reference{
		"empty":              blob(nil),
		"text":               blob("a fox"),
		"GIF":                blob("GIF89a\x01\x00\x01\x00\x00\x00\x00;"),
		"a header cut short": blob(whole[:20]),
		"cannot be opened":   broken{open: errors.New("no such file")},
		"cannot be read":     broken{read: errors.New("disk trouble")},
	} {
		_, err := s.generate(imagegen.GenerateRequest{References: []imagegen.Reference{whole, bad}})
		if !errors.Is(err, imagegen.ErrInvalidRequest) {
			s.Errorf("%s: got %v", name, err)
		}
	}
	tooMany := make([]imagegen.Reference, imagegen.MaxReferences+1)
	for i := range tooMany {
		tooMany[i] = whole
	}
	_, err := s.generate(imagegen.GenerateRequest{References: tooMany})
	s.fails(err, imagegen.ErrInvalidRequest)
	s.hasBalance(s.Alice, 100)
	s.is.Equal(len(s.recorded(s.Alice)), 0)
}

// blob is a reference image in memory.
type blob []byte

func (b blob) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b)), nil
}

// broken is a reference image that fails.
type broken struct{ open, read error }

func (b broken) Open(context.Context) (io.ReadCloser, error) {
	if b.open != nil {
		return nil, b.open
	}
	return io.NopCloser(io.MultiReader(bytes.NewReader(picture(30, 30)), iotest.ErrReader(b.read))), nil
}

func picture(w, h int) blob { return PNG(w, h) }

// Transparent makes a picture in which nothing is seen: a mask that has all made anew.
func Transparent(w, h int) []byte { return encoded(image.NewNRGBA(image.Rect(0, 0, w, h))) }

// PNG makes a picture.
func PNG(w, h int) []byte {
	return encoded(image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black}))
}
