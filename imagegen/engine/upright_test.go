package engine_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// seen are the files that a provider was asked with, in the order of its calls.
type seen struct {
	mu    sync.Mutex
	size  imagegen.Size // that it chose
	files []imagegen.ProviderReference
	bytes [][]byte
}

// look makes a provider that remembers its files and then does the same as p.
func (s *seen) look(p *scripted) *scripted {
	do := p.do
	p.do = func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
		files := r.References
		if r.Mask != nil {
			files = append(files, *r.Mask)
		}
		s.mu.Lock()
		s.size, _ = p.caps.Choose(r)
		for _, file := range files {
			f, err := file.Open(ctx)
			var b []byte
			if err == nil {
				b, err = io.ReadAll(f)
				f.Close()
			}
			if err != nil {
				panic(err)
			}
			s.files, s.bytes = append(s.files, file), append(s.bytes, b)
		}
		s.mu.Unlock()
		do(ctx, r, yield)
	}
	return p
}

// onItsSide is EXIF with the orientation 6.
const onItsSide = "MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"

// The size in which a reference is displayed decides ratio and mask. A provider gets it upright: as it was sent if it
// honours the orientation, else as a copy. The record tells of the bytes that were sent, and a repetition finds the
// same call.
func TestTurnedReferences(t *testing.T) {
	for _, f := range imagegen.Formats() {
		for _, o := range imagegentest.Orientations() {
			for _, honours := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %d honoured %t", f, o, honours), func(t *testing.T) {
					t.Parallel()
					is, at := is.New(t), &seen{}
					p := at.look(yieldImages(1, nil))
					p.caps.Orientation, p.caps.Mask = honours, true
					h := start(t, p)
					file := imagegentest.Turned(f, o, 48, 64)
					q := imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(pngOf(8, 4)),
						bytesReference(file)}, IdempotencyKey: "k"}
					q.References[0], q.References[1] = q.References[1], q.References[0]
					q.Mask = bytesReference(imagegentest.TurnedMask(o, 48, 64))
					got, err := h.generate(q)
					is.NoErr(err)
					is.Equal(got.ReferenceCount, 2)
					is.True(got.Masked)
					is.True(at.size.Height > at.size.Width)

					r, err := h.engine.Record(t.Context(), got.ID)
					is.NoErr(err)
					is.Equal(r.References[0].SHA256, sha256.Sum256(file))
					is.Equal(r.References[0].Size, int64(len(file)))
					is.Equal(r.References[0].MediaType, f.MediaType())
					is.Equal(imagegen.Size{Width: r.References[0].Width, Height: r.References[0].Height},
						imagegen.Size{Width: 48, Height: 64})

					asked, sent := at.files[0], at.bytes[0]
					is.Equal(len(at.files), 3)
					is.Equal(bytes.Equal(at.bytes[1], pngOf(8, 4)), true)
					is.Equal(imagegen.Size{Width: asked.Width, Height: asked.Height},
						imagegen.Size{Width: 48, Height: 64})
					is.Equal(asked.Size, int64(len(sent)))
					is.Equal(asked.MediaType == "image/jpeg", f == imagegen.FormatJPEG) // this WebP is lossless
					is.Equal(bytes.Equal(sent, file), honours || o == 1)
					if !honours {
						m, _, err := image.Decode(bytes.NewReader(sent))
						is.NoErr(err)
						is.Equal(m.Bounds().Size(), image.Pt(48, 64))
						is.NoErr(imagegentest.Upright(m))
						is.True(o == 1 || !bytes.Contains(sent, []byte("MM\x00\x2a"))) // nothing turns it again
						is.True(!bytes.Contains(sent, []byte("trainedAlgorithmicMedia")))
					}
					// upright for all providers: adapters convert it
					mask, err := png.Decode(bytes.NewReader(at.bytes[2]))
					is.NoErr(err)
					is.Equal(mask.Bounds().Size(), image.Pt(48, 64))
					is.NoErr(imagegentest.UprightMask(mask))

					again, err := h.generate(q)
					is.NoErr(err)
					is.True(again.Replayed)
					is.Equal(again.ID, got.ID)
					is.Equal(len(at.files), 3)
					h.audit()
				})
			}
		}
	}
}

// A mask with an orientation is compared with its reference by the size in which it is displayed.
func TestTurnedMask(t *testing.T) {
	is := is.New(t)
	p := yieldImages(1, nil)
	p.caps.Mask = true
	h := start(t, p)
	for _, o := range imagegentest.Orientations() {
		for size, ok := range map[imagegen.Size]bool{{Width: 48, Height: 64}: true, {Width: 64, Height: 48}: false} {
			_, err := h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{
				bytesReference(pngOf(size.Width, size.Height))},
				Mask: bytesReference(imagegentest.TurnedMask(o, 48, 64))})
			if ok {
				is.NoErr(err)
			} else {
				is.True(isCode(err, imagegen.ErrInvalidRequest))
			}
		}
	}
}

// A copy is made once, for all attempts, and goes with the reference.
func TestUprightCopyIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, at := is.New(t), &seen{}
		calls := 0
		h := start(t,
			at.look(&scripted{caps: anything,
				do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					if calls++; calls == 1 {
						yield(imagegen.ProviderImage{}, transient(1))
						return
					}
					yield(picture(1024, 1024), nil)
				}}))
		icc := "ICC_PROFILE\x00\x01\x01" + string(binary.BigEndian.AppendUint32(nil, 200)) + string(make([]byte, 12)) +
			"RGB " + string(make([]byte, 180))
		file := imagegentest.JPEGSegment(imagegentest.Turned(imagegen.FormatJPEG, 8, 48, 64), 0xe2, icc)
		g := h.queued(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(file)}})
		r, err := h.engine.Record(t.Context(), g.ID)
		is.NoErr(err)
		is.Equal(len(r.References), 2)
		is.Equal(r.References[1].CopyOf, r.References[0].ID)
		is.Equal(len(r.ReferenceImages()), 1)
		is.Equal(h.ended(g.ID).Status, imagegen.StatusSucceeded)
		is.Equal(len(at.files), 2)
		is.True(bytes.Equal(at.bytes[0], at.bytes[1]))
		is.Equal(sha256.Sum256(at.bytes[0]), r.References[1].SHA256)
		is.True(bytes.Contains(at.bytes[0], []byte(icc))) // its colours stay
		synctest.Wait()
		for _, f := range r.References {
			_, err := h.db.Open(t.Context(), f.ID)
			is.True(errors.Is(err, imagegen.ErrNotFound))
		}
	})
}

// A lossy WebP would be many times as large as a PNG: upstreams with a limit would refuse it.
func TestUprightCopyOfALossyWebP(t *testing.T) {
	is, at := is.New(t), &seen{}
	h := start(t, at.look(yieldImages(1, nil)))
	pixels, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	is.NoErr(err)
	turned := imagegentest.RIFF("VP8X", "\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00", "VP8 ", string(pixels[20:]), "EXIF",
		onItsSide) // of one pixel
	_, err = h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(turned)}})
	is.NoErr(err)
	is.Equal(at.files[0].MediaType, "image/jpeg")
}

// A copy that nobody could send is refused before the charge, in the words of a picture that is too large.
func TestUprightCopyIsTooLarge(t *testing.T) {
	is := is.New(t)
	h := start(t, yieldImages(1, nil))
	noise, colours := rand.NewChaCha8([32]byte{}), color.Palette{}
	for range 256 {
		n := noise.Uint64()
		colours = append(colours, color.RGBA{byte(n), byte(n >> 8), byte(n >> 16), 255})
	}
	m := image.NewPaletted(image.Rect(0, 0, 4700, 4700), colours) // of which each pixel has three bytes in the copy
	noise.Read(m.Pix)
	var b bytes.Buffer
	is.NoErr((&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m))
	turned := bytesReference(imagegentest.PNGChunk(b.Bytes(), "eXIf", onItsSide))
	_, err := h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{turned}})
	is.True(isCode(err, imagegen.ErrInvalidRequest))
	is.True(strings.Contains(err.Error(), "it is too large to be turned here: send it upright, or smaller"))
}

// trackedSpool knows which files are in it.
type trackedSpool struct {
	imagegen.Spool
	mu    sync.Mutex
	there map[imagegen.ReferenceID]bool
	most  int // that were there at once
}

func (s *trackedSpool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	err := s.Spool.Stage(ctx, id, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.there[id] = err == nil
	s.most = max(s.most, len(s.there))
	return err
}

func (s *trackedSpool) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	s.mu.Lock()
	for _, id := range ids {
		delete(s.there, id)
	}
	s.mu.Unlock()
	return s.Spool.Remove(ctx, ids...)
}

// tooLargeToTurn is a JPEG of 6000 × 6000 pixels, progressive and on its side.
var tooLargeToTurn = imagegentest.JPEGSegment([]byte("\xff\xd8\xff\xc2\x00\x11\x08\x17\x70\x17\x70\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"+
	"\xff\xda\x00\x02pixels\xff\xd9"), 0xe1, "Exif\x00\x00"+onItsSide)

// A call that is refused leaves no copy behind, and one that cannot be paid makes none.
func TestUprightCopyOfARefusedCall(t *testing.T) {
	is := is.New(t)
	spool := &trackedSpool{there: map[imagegen.ReferenceID]bool{}}
	h := start(t, yieldImages(1, nil), func(c *engine.Config) {
		spool.Spool, c.Spool = c.Store.(imagegen.Spool), spool
	})
	turned := bytesReference(imagegentest.Turned(imagegen.FormatPNG, 6, 48, 64))
	_, err := h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{turned,
		bytesReference(tooLargeToTurn)}})
	is.True(isCode(err, imagegen.ErrInvalidRequest))
	is.Equal(spool.most, 2) // nothing was turned before all were examined
	is.Equal(len(spool.there), 0)
	spool.most = 0
	_, err = h.db.Revoke(t.Context(), imagegen.Revocation{User: alice, Credits: 90})
	is.NoErr(err)
	_, err = h.generate(imagegen.GenerateRequest{N: 4, Quality: imagegen.QualityHigh,
		References: []imagegen.Reference{turned}})
	is.True(isCode(err, imagegen.ErrInsufficientCredits))
	is.Equal(err.Error(),
		"insufficientCredits: the account has too few credits for this request, which costs 16; it has 10")
	is.Equal(spool.most, 1)
	is.Equal(len(spool.there), 0)
}

// A picture that would take too much memory to be turned is refused before the charge, with what to do.
func TestAReferenceThatIsTooLargeToTurn(t *testing.T) {
	is := is.New(t)
	h := start(t, yieldImages(1, nil))
	_, err := h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(tooLargeToTurn)}})
	is.True(isCode(err, imagegen.ErrInvalidRequest))
	is.Equal(err.Error(),
		"invalid_request: reference image 1 has 6000 x 6000 pixels, which are stored turned (EXIF orientation 6); it is too large to be turned here: send it upright, or smaller")
	is.Equal(h.balance(), imagegen.Credits(100))
}

// References that no upstream could decode are refused before any charge, with the file and what is wrong with it,
// whether their sender can pay or not.
func TestReferencesThatCannotBeDecoded(t *testing.T) {
	photo := imagegentest.Turned(imagegen.FormatJPEG, 1, 300, 200)
	apple := bytes.Clone(pngOf(16, 16))
	apple = append(append(bytes.Clone(apple[:8]), "\x00\x00\x00\x04CgBI\x50\x00\x20\x02\x2b\xd5\xb3\x7f"...),
		apple[8:]...)
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"a JPEG that is cut off": {photo[:len(photo)*3/4], "it ends early"},
		"a WebP that moves": {imagegentest.RIFF("VP8X", "\x02\x00\x00\x00\x0f\x00\x00\x0f\x00\x00", "ANIM",
			"\x00\x00\x00\x00\x00\x00", "ANMF", "a frame."), "animation"},
		"a PNG of Apple's": {apple, "CgBI"},
		"a HEIC":           {[]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), "HEIC"},
	} {
		for _, user := range []imagegen.UserID{alice, bob} { // bob has no credits
			t.Run(fmt.Sprintf("%s of %s", name, user), func(t *testing.T) {
				is, at := is.New(t), &seen{}
				h := start(t, at.look(yieldImages(1, nil)))
				_, err := h.engine.As(user).StageReference(t.Context(), readerOf(c.file), "fox.bin")
				is.True(isCode(err, imagegen.ErrInvalidRequest))
				is.True(strings.HasPrefix(err.Error(), "invalid_request: fox.bin "))
				is.True(strings.Contains(err.Error(), c.says))
				_, err = h.engine.As(user).Generate(t.Context(),
					fox(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(c.file)}}))
				is.True(isCode(err, imagegen.ErrInvalidRequest))
				is.Equal(len(at.files), 0)
				is.Equal(h.balance(), imagegen.Credits(100))
			})
		}
	}
}

// readSpool calls opened before each file is opened; its error is what opening ends with.
type readSpool struct {
	imagegen.Spool
	opened func(context.Context) error
}

func (s readSpool) Open(ctx context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	if err := s.opened(ctx); err != nil {
		return nil, err
	}
	return s.Spool.Open(ctx, id)
}

// A spool that cannot be read is not the fault of the image in it: the caller may try again.
func TestSpoolThatFailsWhileAReferenceIsTurned(t *testing.T) {
	for failing := range int32(3) { // it is opened to be checked, to be examined, and to be decoded
		is, opened := is.New(t), atomic.Int32{}
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Spool = readSpool{c.Store.(imagegen.Spool), func(context.Context) error {
				if opened.Add(1) == failing+1 {
					return errors.New("the disk is away")
				}
				return nil
			}}
		})
		file := imagegentest.Turned(imagegen.FormatPNG, 6, 48, 64)
		_, err := h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(file)}})
		is.True(isCode(err, imagegen.ErrOverloaded))
		is.Equal(h.balance(), imagegen.Credits(100))
	}
}

// References are turned one at a time for each user, so that a crowd of one user's calls holds up nobody else. A call
// whose turn does not come in time is refused before the charge.
func TestTurningTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, held := is.New(t), make(chan struct{})
		var opened atomic.Int32
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Spool = readSpool{c.Store.(imagegen.Spool), func(ctx context.Context) error {
				if opened.Add(1) == 3 { // in the first turn: before, the file was hashed and examined
					<-held
				}
				return nil
			}}
		})
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: bob, Credits: 1})
		is.NoErr(err)
		turned := func() imagegen.GenerateRequest {
			return fox(imagegen.GenerateRequest{References: []imagegen.Reference{
				bytesReference(imagegentest.Turned(imagegen.FormatPNG, 6, 48, 64))}})
		}
		ended := make(chan error)
		go func() {
			_, err := h.engine.As(alice).Generate(t.Context(), turned())
			ended <- err
		}()
		synctest.Wait()
		began := time.Now()
		_, err = h.engine.As(bob).Generate(t.Context(), turned())
		is.NoErr(err)
		is.Equal(time.Since(began), time.Duration(0))
		_, err = h.engine.As(alice).Generate(t.Context(), turned())
		is.True(isCode(err, imagegen.ErrOverloaded))
		is.Equal(time.Since(began), 30*time.Second)
		is.Equal(h.balance(), imagegen.Credits(100))
		close(held)
		is.NoErr(<-ended)
		h.audit()
	})
}
