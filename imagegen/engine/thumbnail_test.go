package engine_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

func withThumbnails(c *engine.Config) { c.Thumbnails = true }

// yields is a provider of one image.
func yields(b []byte) *scripted {
	return &scripted{caps: anything,
		do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			yield(imagegen.ProviderImage{Body: readerOf(b)}, nil)
		}}
}

// one has one image made for alice and returns it.
func (h *harness) one(size imagegen.Size) imagegen.Image {
	h.Helper()
	g, err := h.generate(imagegen.GenerateRequest{Size: size})
	h.is.NoErr(err)
	h.is.Equal(len(g.Images), 1)
	return g.Images[0]
}

// thumbnailKey is where the thumbnail of an image of a first attempt lies.
func thumbnailKey(i imagegen.Image) imagegen.ImageKey {
	g, _ := i.ID.Generation()
	return imagegen.ImageKey{Generation: g, Attempt: 1, Image: i.ID.Thumbnail()}
}

// kept reports whether there is a thumbnail.
func (h *harness) kept(i imagegen.Image) bool {
	h.Helper()
	f, err := h.db.OpenImage(context.Background(), thumbnailKey(i))
	if errors.Is(err, imagegen.ErrNotFound) {
		return false
	}
	h.is.NoErr(err)
	h.is.NoErr(f.Close())
	return true
}

// look reads a thumbnail as its owner does.
func (h *harness) look(i imagegen.Image) (image.Image, *imagegen.ImageFile) {
	h.Helper()
	f, err := h.engine.As(alice).OpenThumbnail(h.Context(), i.ID)
	h.is.NoErr(err)
	b, err := io.ReadAll(f)
	h.is.NoErr(err)
	h.is.NoErr(f.Close())
	h.is.Equal(int64(len(b)), f.Size)
	p, _, err := image.Decode(bytes.NewReader(b))
	h.is.NoErr(err)
	return p, f
}

// glass is a PNG that one can see through.
func glass(w, h int) []byte {
	p := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range p.Pix {
		p.Pix[i] = 0x80
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestThumbnail(t *testing.T) {
	for name, test := range map[string]struct {
		bytes     []byte
		from, to  imagegen.Size
		mediaType string
	}{
		"square": {pngOf(1024, 1024), imagegen.Size{Width: 1024, Height: 1024}, imagegen.Size{Width: 320,
			Height: 320}, "image/jpeg"},
		"wide": {pngOf(1536, 1024), imagegen.Size{Width: 1536, Height: 1024}, imagegen.Size{Width: 320,
			Height: 213}, "image/jpeg"},
		"high": {pngOf(512, 1024), imagegen.Size{Width: 512, Height: 1024}, imagegen.Size{Width: 160,
			Height: 320}, "image/jpeg"},
		"small": {pngOf(64, 32), imagegen.Size{Width: 64, Height: 32}, imagegen.Size{Width: 64, Height: 32},
			"image/jpeg"},
		"transparent": {glass(640, 640), imagegen.Size{Width: 640, Height: 640}, imagegen.Size{Width: 320, Height: 320},
			"image/png"},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, yields(test.bytes), withThumbnails)
			i := h.one(test.from)
			p, f := h.look(i)
			h.is.Equal(imagegen.Size{Width: p.Bounds().Dx(), Height: p.Bounds().Dy()}, test.to)
			h.is.Equal(f.MediaType, test.mediaType)
			h.is.Equal(f.ID, i.ID)
			h.is.Equal(len(f.ETag), 64)
			h.is.True(f.CreatedAt.Equal(i.CreatedAt))
			_, again := h.look(i)
			h.is.Equal(again.ETag, f.ETag)
			h.is.True(h.kept(i))
			h.audit()
		})
	}
}

// A thumbnail shows what the image shows.
func TestThumbnailOfAPicture(t *testing.T) {
	halves := image.NewRGBA(image.Rect(0, 0, 640, 640))
	for y := range 640 {
		for x := range 640 {
			halves.Set(x, y, map[bool]color.Color{true: color.White, false: color.Black}[x < 320])
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, halves); err != nil {
		t.Fatal(err)
	}
	h := start(t, yields(b.Bytes()), withThumbnails)
	p, _ := h.look(h.one(imagegen.Size{Width: 640, Height: 640}))
	left, _, _, _ := p.At(40, 160).RGBA()
	right, _, _, _ := p.At(280, 160).RGBA()
	h.is.True(left > 0xf000 && right < 0x0fff)
}

// Only the owner sees one, and nobody where none are wanted.
func TestThumbnailsAreTheOwners(t *testing.T) {
	h := start(t, yieldImages(1, nil), withThumbnails)
	i := h.one(imagegen.Size{})
	open := func(u imagegen.UserID, id imagegen.ImageID) error {
		f, err := h.engine.As(u).OpenThumbnail(t.Context(), id)
		if err == nil {
			h.is.NoErr(f.Close())
		}
		return err
	}
	h.is.NoErr(open(alice, i.ID))
	h.is.Equal(open(bob, i.ID), open(alice, "image_none"))
	unknown := i.ID[:len(i.ID)-1] + "_"
	for u, id := range map[imagegen.UserID]imagegen.ImageID{bob: i.ID, "": i.ID, alice: unknown,
		"alice ": i.ID.Thumbnail()} {
		h.is.True(isCode(open(u, id), imagegen.ErrNotFound))
	}
	h.is.True(isCode(open(alice, i.ID.Thumbnail()), imagegen.ErrNotFound))
	_, err := h.engine.OpenImage(t.Context(), i.ID.Thumbnail()) // who knows an image's name knows this one
	h.is.True(isCode(err, imagegen.ErrNotFound))

	h.cfg.Thumbnails = false
	h.restart()
	h.is.True(isCode(open(alice, i.ID), imagegen.ErrNotFound))
}

// They are there before anybody looks; where they are not, they are made then.
func TestThumbnailsAreMadeBeforehand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		former := h.one(imagegen.Size{})
		h.cfg.Thumbnails = true
		h.restart()
		i := h.one(imagegen.Size{})
		synctest.Wait()
		h.is.True(h.kept(i))
		h.is.True(!h.kept(former))
		h.look(former)
		h.is.True(h.kept(former))
	})
}

// A thumbnail goes with its generation.
func TestThumbnailsAreErased(t *testing.T) {
	h := start(t, yieldImages(1, nil), withThumbnails)
	i := h.one(imagegen.Size{})
	h.look(i)
	g, _ := i.ID.Generation()
	h.is.NoErr(h.engine.Erase(t.Context(), g))
	h.is.True(!h.kept(i))
	_, err := h.engine.As(alice).OpenThumbnail(t.Context(), i.ID)
	h.is.True(isCode(err, imagegen.ErrNotFound))
	h.audit()
}

// studied is an ImageStore that a test watches.
type studied struct {
	imagegen.ImageStore
	opened func(imagegen.ImageKey)
	put    func(imagegen.ImageKey)
}

func (s *studied) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	s.opened(k)
	return s.ImageStore.OpenImage(ctx, k)
}

func (s *studied) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	s.put(k)
	return s.ImageStore.PutImage(ctx, k, r)
}

func isThumbnail(k imagegen.ImageKey) bool { return k.Image.Original() != k.Image }

// study starts an engine without thumbnails, has an image made, and starts another that makes them, over
// an ImageStore that is watched.
func study(t *testing.T) (*harness, imagegen.Image, *studied) {
	h := start(t, yieldImages(1, nil))
	i := h.one(imagegen.Size{})
	s := &studied{h.db, func(imagegen.ImageKey) {}, func(imagegen.ImageKey) {}}
	h.cfg.Thumbnails, h.cfg.Images = true, s
	h.restart()
	return h, i, s
}

// An erasure and a thumbnail at the same time leave nothing behind.
func TestThumbnailMeetsErasure(t *testing.T) {
	for name, meet := range map[string]func(s *studied, erase func()){
		"while it is drawn": func(s *studied, erase func()) {
			s.opened = func(k imagegen.ImageKey) {
				if !isThumbnail(k) {
					erase()
				}
			}
		},
		"while it is written": func(s *studied, erase func()) { s.put = func(imagegen.ImageKey) { erase() } },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, i, s := study(t)
				g, _ := i.ID.Generation()
				var erasure sync.WaitGroup
				var once sync.Once
				meet(s, func() {
					once.Do(func() {
						erasure.Go(func() {
							if err := h.engine.Erase(context.Background(), g); err != nil {
								t.Error(err)
							}
						})
						time.Sleep(time.Second) // it gets as far as it can
					})
				})
				f, err := h.engine.As(alice).OpenThumbnail(t.Context(), i.ID)
				if err == nil {
					h.is.NoErr(f.Close())
				} else {
					h.is.True(isCode(err, imagegen.ErrNotFound))
				}
				erasure.Wait()
				h.is.True(!h.kept(i))
				h.audit()
			})
		})
	}
}

// Nor where the erasure is another process's, and the one who looks hangs up.
func TestThumbnailMeetsErasureElsewhere(t *testing.T) {
	h, i, s := study(t)
	former := h.engine
	h.restart() // over the same storage
	g, _ := i.ID.Generation()
	ctx, hangUp := context.WithCancel(t.Context())
	s.put = func(imagegen.ImageKey) {
		h.is.NoErr(h.engine.Erase(context.Background(), g))
		hangUp()
	}
	if f, err := former.As(alice).OpenThumbnail(ctx, i.ID); err == nil {
		h.is.NoErr(f.Close())
	}
	h.is.True(!h.kept(i))
	h.audit()
}

// Many who look at once have it made once.
func TestThumbnailIsMadeOnce(t *testing.T) {
	h, i, s := study(t)
	var puts atomic.Int32
	s.put = func(imagegen.ImageKey) { puts.Add(1) }
	var looks sync.WaitGroup
	for range 16 {
		looks.Go(func() {
			f, err := h.engine.As(alice).OpenThumbnail(t.Context(), i.ID)
			if err != nil {
				t.Error(err)
				return
			}
			f.Close()
		})
	}
	looks.Wait()
	h.is.Equal(puts.Load(), int32(1))
}

// full is a Store that has no room.
type full struct{ imagegen.TxStore }

var _ imagegen.ReadinessChecker = full{}

func (full) Ready(context.Context) error { return errors.New("the disk is full") }

// On a full disk a thumbnail can be looked at, but takes no space.
func TestThumbnailOnAFullDisk(t *testing.T) {
	h, i, _ := study(t)
	h.cfg.Store, h.cfg.Spool = full{h.db}, h.db
	h.restart()
	h.look(i)
	h.is.True(!h.kept(i))
}

// An image that is damaged has no thumbnail, and takes nobody down.
func TestThumbnailOfADamagedImage(t *testing.T) {
	h, i, _ := study(t)
	h.cfg.Images = damaged{h.db}
	h.restart()
	_, err := h.engine.As(alice).OpenThumbnail(t.Context(), i.ID)
	h.is.True(isCode(err, imagegen.ErrInternal))
	h.is.True(!h.kept(i))
}

// damaged is an ImageStore that gives back something else.
type damaged struct{ imagegen.ImageStore }

func (d damaged) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	f, err := d.ImageStore.OpenImage(ctx, k)
	if err != nil {
		return nil, err
	}
	return noCloser{strings.NewReader("\x89PNG\r\n\x1a\n and no more")}, f.Close()
}

type noCloser struct{ io.ReadSeeker }

func (noCloser) Close() error { return nil }

func TestNamesOfThumbnails(t *testing.T) {
	is := is.New(t)
	const id = imagegen.ImageID("image_01JBZ3Q8YV5M0K2W7R4T6X9A1CABCDEFGHIJKLMNOPQRSTUVWXYZ")
	g, ok := id.Generation()
	is.True(ok)
	_, ok = id.Thumbnail().Generation()
	is.True(!ok) // no thumbnail is an image of a record
	is.Equal(id.Thumbnail().Original(), id)
	is.Equal(id.Original(), id)
	is.Equal(g, imagegen.GenerationID("gen_01JBZ3Q8YV5M0K2W7R4T6X9A1C"))
}
