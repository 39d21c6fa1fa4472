package imagegentest

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/webp"

	"github.com/imagegend/imagegend/imagegen"
)

// decoders are those of the formats.
var decoders = map[imagegen.Format]func(io.Reader) (image.Image, error){
	imagegen.FormatPNG: png.Decode, imagegen.FormatJPEG: jpeg.Decode, imagegen.FormatWebP: webp.Decode,
}

// drawn has images made in the background or not, and decodes the first, which must be of a format.
func (s *suite) drawn(q imagegen.GenerateRequest, as imagegen.Format) (imagegen.Generation, image.Image) {
	s.Helper()
	done := s.ended(s.generated(q).ID)
	s.is.Equal(done.Status, imagegen.StatusSucceeded)
	s.is.Equal(cmp.Diff(q.Options, done.Options), "")
	s.is.Equal(done.Masked, q.Mask != nil)
	s.is.Equal(done.Images[0].MediaType, as.MediaType())
	picture, err := decoders[as](bytes.NewReader(s.bytesOf(done.Images[0].ID)))
	s.is.NoErr(err)
	return done, picture
}

func (s *suite) bytesOf(id imagegen.ImageID) []byte {
	s.Helper()
	f, err := s.Alice.OpenImage(s.Context(), id)
	s.is.NoErr(err)
	defer f.Close()
	b, err := io.ReadAll(f)
	s.is.NoErr(err)
	return b
}

func (s *suite) formats() {
	for _, async := range []bool{false, true} {
		for _, format := range imagegen.Formats() {
			_, picture := s.drawn(imagegen.GenerateRequest{Async: async, Options: imagegen.Options{Format: format}},
				format)
			s.is.Equal(picture.Bounds().Size(), image.Pt(small.Width, small.Height))
		}
	}
	size := func(compression int) int {
		done, _ := s.drawn(imagegen.GenerateRequest{Options: imagegen.Options{Format: imagegen.FormatJPEG,
			Compression: &compression}}, imagegen.FormatJPEG)
		return len(s.bytesOf(done.Images[0].ID))
	}
	s.is.True(size(0) < size(50))
	s.is.True(size(50) < size(imagegen.MaxCompression))
}

func (s *suite) backgrounds() {
	of := func(b imagegen.Background, f imagegen.Format) (corner uint32) {
		_, picture := s.drawn(imagegen.GenerateRequest{Options: imagegen.Options{Background: b, Format: f}}, f)
		_, _, _, corner = picture.At(0, 0).RGBA()
		_, _, _, middle := picture.At(small.Width/2, small.Height/2).RGBA()
		s.is.Equal(middle, uint32(0xffff))
		return corner
	}
	for _, f := range []imagegen.Format{imagegen.FormatPNG, imagegen.FormatWebP} {
		s.is.Equal(of(imagegen.BackgroundTransparent, f), uint32(0))
		s.is.Equal(of(imagegen.BackgroundOpaque, f), uint32(0xffff))
	}
	auto := s.generated(imagegen.GenerateRequest{Options: imagegen.Options{Background: imagegen.BackgroundAuto}})
	s.is.Equal(cmp.Diff(auto.Options, imagegen.Options{}), "") // which asks for nothing
}

func (s *suite) seeds() {
	images := func(seed int64) (all []string) {
		r := s.generated(imagegen.GenerateRequest{N: 2, Options: imagegen.Options{Seed: &seed}})
		s.is.Equal(*r.Options.Seed, seed)
		for _, i := range r.Images {
			all = append(all, string(s.bytesOf(i.ID)))
		}
		return all
	}
	first, again, next := images(0), images(0), images(1)
	s.is.True(first[0] == again[0] && first[1] == again[1])
	s.is.True(first[0] != first[1])
	s.is.True(first[1] == next[0]) // the second image of a request has the next seed
}

func (s *suite) masks() {
	before, mask := painted(small, color.NRGBA{R: 200, G: 10, B: 10, A: 255}),
		masking(small, image.Rect(16, 12, 32, 24))
	for _, async := range []bool{false, true} {
		done, after := s.drawn(imagegen.GenerateRequest{References: []imagegen.Reference{before}, Mask: mask,
			Async: async}, imagegen.FormatPNG)
		s.is.Equal(done.ReferenceCount, 1)
		changed := 0
		for y := range small.Height {
			for x := range small.Width {
				r, g, b, _ := after.At(x, y).RGBA()
				same := r>>8 == 200 && g>>8 == 10 && b>>8 == 10
				if s.is.True(same || image.Pt(x, y).In(image.Rect(16, 12, 32, 24))); !same {
					changed++
				}
			}
		}
		s.is.True(changed > 16*12/2)
	}
}

// turned sends references whose EXIF turns them, with masks of the size in which they are displayed: what the mask
// keeps is upright in the image.
func (s *suite) turned() {
	upright := imagegen.Size{Width: small.Height, Height: small.Width}
	for _, f := range imagegen.Formats() {
		for _, o := range Orientations() {
			q := imagegen.GenerateRequest{Size: upright,
				References: []imagegen.Reference{blob(Turned(f, o, upright.Width, upright.Height))},
				Mask:       masking(upright, image.Rect(0, 0, 1, 1)), IdempotencyKey: fmt.Sprintf("%s-%d", f, o)}
			done, picture := s.drawn(q, imagegen.FormatPNG)
			s.is.NoErr(Upright(picture))
			s.is.Equal(done.ReferenceCount, 1)
			again, err := s.generate(q)
			s.is.NoErr(err)
			s.is.True(again.Replayed)
			s.is.Equal(again.ID, done.ID)
		}
	}
}

func (s *suite) unfitMasks() {
	reference := painted(small, color.White)
	larger := imagegen.Size{Width: small.Width + 1, Height: small.Height}
	for name, q := range map[string]imagegen.GenerateRequest{
		"no reference": {Mask: masking(small, image.Rect(0, 0, 9, 9))},
		"another size": {References: []imagegen.Reference{reference},
			Mask: masking(larger, image.Rect(0, 0, 9, 9))},
		"no alpha": {References: []imagegen.Reference{reference}, Mask: picture(small.Width, small.Height)},
		"no image": {References: []imagegen.Reference{reference}, Mask: blob("a fox")},
		"cannot be opened": {References: []imagegen.Reference{reference},
			Mask: broken{open: errors.New("no such file")}},
		"cannot be read": {References: []imagegen.Reference{reference},
			Mask: broken{read: errors.New("disk trouble")}},
	} {
		_, err := s.generate(q)
		if e := s.fails(err, imagegen.ErrInvalidRequest); !strings.HasPrefix(e.Message, "mask") {
			s.Errorf("%s: got %v", name, err)
		}
	}
	s.hasBalance(s.Alice, 100)
	s.is.Equal(len(s.recorded(s.Alice)), 0)
}

func (s *suite) invalidOptions() {
	for field, all := range map[string][]imagegen.Options{
		"output_format": {{Format: "gif"}, {Format: "PNG"}},
		"output_compression": {{Compression: new(50)}, {Format: imagegen.FormatPNG, Compression: new(50)},
			{Format: imagegen.FormatWebP, Compression: new(50)}, {Format: imagegen.FormatJPEG, Compression: new(-1)},
			{Format: imagegen.FormatJPEG, Compression: new(101)}},
		"background": {{Background: "white"}, {Background: imagegen.BackgroundTransparent,
			Format: imagegen.FormatJPEG}},
		"seed": {{Seed: new(int64(-1))}, {Seed: new(int64(1) << 32)}},
	} {
		for _, o := range all {
			_, err := s.generate(imagegen.GenerateRequest{Options: o})
			if e := s.fails(err, imagegen.ErrInvalidRequest); !strings.HasPrefix(e.Message, field) {
				s.Errorf("%+v: got %v", o, err)
			}
		}
	}
	last := int64(1)<<32 - 1
	// of which the second has none
	_, err := s.generate(imagegen.GenerateRequest{N: 2, Options: imagegen.Options{Seed: &last}})
	s.fails(err, imagegen.ErrInvalidRequest)
	s.hasBalance(s.Alice, 100)
	s.generated(imagegen.GenerateRequest{Options: imagegen.Options{Seed: &last}})
}

func (s *suite) optionsCompared() {
	q := imagegen.GenerateRequest{IdempotencyKey: "k", References: []imagegen.Reference{painted(small, color.Black)},
		Options: imagegen.Options{Format: imagegen.FormatJPEG, Compression: new(80), Seed: new(int64(7))}}
	s.generated(q)
	for _, change := range []func(*imagegen.GenerateRequest){
		func(q *imagegen.GenerateRequest) { q.Options = imagegen.Options{} },
		func(q *imagegen.GenerateRequest) { q.Options.Format, q.Options.Compression = imagegen.FormatPNG, nil },
		func(q *imagegen.GenerateRequest) { q.Options.Compression = nil },
		func(q *imagegen.GenerateRequest) { q.Options.Compression = new(0) },
		func(q *imagegen.GenerateRequest) { q.Options.Background = imagegen.BackgroundOpaque },
		func(q *imagegen.GenerateRequest) { q.Options.Seed = nil },
		func(q *imagegen.GenerateRequest) { q.Options.Seed = new(int64(0)) },
		func(q *imagegen.GenerateRequest) { q.Mask = masking(small, image.Rect(0, 0, 9, 9)) },
	} {
		other := q
		change(&other)
		_, err := s.generate(other)
		s.fails(err, imagegen.ErrIdempotencyKeyReused)
	}
	q.Options.Background = imagegen.BackgroundAuto // the default, said aloud
	s.is.True(s.generated(q).Replayed)
	s.hasBalance(s.Alice, 99)
}

// painted makes a PNG of one colour.
func painted(z imagegen.Size, c color.Color) blob {
	p := image.NewNRGBA(image.Rect(0, 0, z.Width, z.Height))
	for y := range z.Height {
		for x := range z.Width {
			p.Set(x, y, c)
		}
	}
	return encoded(p)
}

// masking makes a mask that is transparent in one place.
func masking(z imagegen.Size, where image.Rectangle) blob {
	p := image.NewNRGBA(image.Rect(0, 0, z.Width, z.Height))
	for y := range z.Height {
		for x := range z.Width {
			if !image.Pt(x, y).In(where) {
				p.Set(x, y, color.Black)
			}
		}
	}
	return encoded(p)
}

func encoded(p image.Image) blob {
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		panic(err)
	}
	return b.Bytes()
}
