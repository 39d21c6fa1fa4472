package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"

	"golang.org/x/sync/semaphore"
)

const (
	thumbnailEdge    = 320
	thumbnailQuality = 80
	// maxThumbnailBytes is more than a PNG of thumbnailEdge × thumbnailEdge can have.
	maxThumbnailBytes = 1 << 20
	// mostDue bounds what waits for its thumbnails. What finds no place gets them when it is looked at.
	mostDue = 1024
	// thumbnailRest is how long to rest after a thumbnail, in terms of the time that it took: so the
	// background takes a twentieth of one processor, whatever there is to do.
	thumbnailRest = 19
)

// thumbnails are small copies of images, made one at a time. None of them is in a record: they can
// be made again.
type thumbnails struct {
	due    chan imagegen.GenerationID // nil: none are made
	making *semaphore.Weighted
	// publishing is held while one is written, and while an erasure begins: what an erasure does not
	// see does not come after it.
	publishing *semaphore.Weighted
}

func newThumbnails(wanted bool) *thumbnails {
	t := &thumbnails{making: semaphore.NewWeighted(1), publishing: semaphore.NewWeighted(1)}
	if wanted {
		t.due = make(chan imagegen.GenerationID, mostDue)
	}
	return t
}

// want has the thumbnails of a generation made when there is time. It waits for nothing.
func (t *thumbnails) want(id imagegen.GenerationID) {
	select {
	case t.due <- id:
	default:
	}
}

// OpenThumbnail opens a small copy of one of the user's images: at most 320 pixels wide and high, a
// JPEG, or a PNG if something in it is transparent. If there is none yet it is made now. The caller
// closes it. ErrNotFound: also of another user's image, and without Config.Thumbnails.
func (s *Session) OpenThumbnail(ctx context.Context, id imagegen.ImageID) (*imagegen.ImageFile, error) {
	e := s.engine
	g, ok := id.Generation()
	if !ok || e.thumbnails.due == nil {
		return nil, imagegen.ErrNotFound
	}
	r, err := e.store.Generation(ctx, g)
	if err != nil {
		return nil, imagegen.ToUserError(err)
	}
	i, ok := published(r, id)
	if !ok || r.User != s.user {
		return nil, imagegen.ErrNotFound
	}
	b, err := e.thumbnail(ctx, r, i, e.decoding.Acquire)
	if err != nil {
		return nil, e.unopened(ctx, i, err)
	}
	f, err := sniff(b)
	if err != nil {
		return nil, imagegen.Internal(fmt.Errorf("imagegen: the thumbnail of image %s: %w", id, err))
	}
	return &imagegen.ImageFile{ReadSeekCloser: closable{bytes.NewReader(b)}, ID: id, MediaType: f.mediaType, Size: int64(len(b)),
		ETag: fmt.Sprintf("%x", sha256.Sum256(b)), CreatedAt: i.CreatedAt}, nil
}

// closable is bytes that need no closing.
type closable struct{ *bytes.Reader }

func (closable) Close() error { return nil }

// thumbnail reads the thumbnail of a published image, and makes it if there is none. acquire takes
// of the memory for decoding.
func (e *Engine) thumbnail(ctx context.Context, r imagegen.Record, i imagegen.StoredImage, acquire func(context.Context, int64) error) ([]byte, error) {
	key := r.ImageKey(i)
	key.Image = i.ID.Thumbnail()
	b, err := e.readThumbnail(ctx, key)
	if !errors.Is(err, imagegen.ErrNotFound) {
		return b, err
	}
	if err := e.thumbnails.making.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer e.thumbnails.making.Release(1)
	if b, err := e.readThumbnail(ctx, key); !errors.Is(err, imagegen.ErrNotFound) { // somebody else has made it meanwhile
		return b, err
	}
	b, err = e.drawThumbnail(ctx, r.ImageKey(i), acquire)
	if err != nil {
		return nil, err
	}
	return b, e.publish(ctx, key, b)
}

func (e *Engine) readThumbnail(ctx context.Context, k imagegen.ImageKey) ([]byte, error) {
	f, err := e.images.OpenImage(ctx, k)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxThumbnailBytes))
}

// drawThumbnail makes the thumbnail of a stored image.
func (e *Engine) drawThumbnail(ctx context.Context, k imagegen.ImageKey, acquire func(context.Context, int64) error) ([]byte, error) {
	stored := received{open: func(ctx context.Context) (io.ReadCloser, error) { return e.images.OpenImage(ctx, k) }}
	header, err := readImage(ctx, stored, decodeHeader)
	if err != nil {
		return nil, err
	}
	to := within(thumbnailEdge, header.size())
	weight := min(target{size: to}.memory(header), decodeBudget)
	if err := acquire(ctx, weight); err != nil {
		return nil, err
	}
	defer e.decoding.Release(weight)
	picture, err := readImage(ctx, stored, header.decode)
	if err != nil {
		return nil, err
	}
	small := coverCrop(picture, to)
	var b bytes.Buffer
	if small.Opaque() {
		err = jpeg.Encode(&b, small, &jpeg.Options{Quality: thumbnailQuality})
	} else {
		err = png.Encode(&b, small)
	}
	return b.Bytes(), err
}

// within is the largest size of the same shape, to a pixel, that has no longer edge; nothing is
// scaled up.
func within(edge int, s imagegen.Size) imagegen.Size {
	longest := max(s.Width, s.Height)
	if longest <= edge {
		return s
	}
	scale := func(n int) int { return max(1, (n*edge+longest/2)/longest) }
	return imagegen.Size{Width: scale(s.Width), Height: scale(s.Height)}
}

// publish stores a thumbnail, unless its generation is no longer there to be seen. A Store that would
// take no generation has no room for a thumbnail either.
func (e *Engine) publish(ctx context.Context, k imagegen.ImageKey, b []byte) error {
	if err := e.thumbnails.publishing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer e.thumbnails.publishing.Release(1)
	r, err := e.store.Generation(ctx, k.Generation)
	switch {
	case err != nil:
		return err
	case !r.Visible():
		return imagegen.ErrNotFound
	}
	err = e.storeReady(ctx)
	if err == nil {
		err = e.images.PutImage(ctx, k, bytes.NewReader(b))
		e.removeIfErased(ctx, k)
	}
	if err != nil && ctx.Err() == nil { // it can be looked at all the same
		e.cfg.Log.WarnContext(ctx, "a thumbnail was not stored", "image", k.Image, "error", err)
	}
	return nil
}

// removeIfErased removes what was put behind the back of an erasure: one in this process waits for
// publish, another process does not.
func (e *Engine) removeIfErased(ctx context.Context, k imagegen.ImageKey) {
	ctx, cancel := detach(ctx)
	defer cancel()
	r, err := e.store.Generation(ctx, k.Generation)
	if errors.Is(err, imagegen.ErrNotFound) || err == nil && !r.Visible() {
		e.removeImages(ctx, k.Generation, k.Attempt)
	}
}

var errNoMemory = errors.New("imagegen: the memory for decoding is in use")

// tryDecoding takes of the memory for decoding only what nobody else wants.
func (e *Engine) tryDecoding(_ context.Context, bytes int64) error {
	if !e.decoding.TryAcquire(bytes) {
		return errNoMemory
	}
	return nil
}

// makeThumbnails makes those that are wanted, without haste.
func (e *Engine) makeThumbnails(ctx context.Context) {
	for {
		select {
		case id := <-e.thumbnails.due:
			e.makeThumbnailsOf(ctx, id)
		case <-ctx.Done():
			return
		}
	}
}

func (e *Engine) makeThumbnailsOf(ctx context.Context, id imagegen.GenerationID) {
	r, err := e.store.Generation(ctx, id)
	if err != nil || !r.Visible() {
		return
	}
	for _, i := range r.Images {
		began := time.Now()
		_, err := e.thumbnail(ctx, r, i, e.tryDecoding)
		if err != nil && ctx.Err() == nil && !errors.Is(err, imagegen.ErrNotFound) && !errors.Is(err, errNoMemory) {
			e.cfg.Log.WarnContext(ctx, "a thumbnail could not be made", "image", i.ID, "error", err)
		}
		pause(ctx, thumbnailRest*time.Since(began), nil)
	}
}
