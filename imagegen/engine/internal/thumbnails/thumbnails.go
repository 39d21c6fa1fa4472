// Package thumbnails makes small copies of images, one at a time, and stores them beside
// the images. No record names them: they can be made again at any time.
package thumbnails

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/picture"
)

const (
	// maxQueued bounds the generations that wait for their thumbnails. One that finds no place gets
	// them when somebody looks at it.
	maxQueued = 1024
	// rest is how long the background rests after a thumbnail, as a multiple of the time that it took:
	// so it takes a twentieth of one processor, however much there is to do.
	rest = 19
)

// Maker makes thumbnails. It is safe for concurrent use.
type Maker struct {
	Config
	queue  chan imagegen.GenerationID
	making *semaphore.Weighted // one thumbnail is made at a time, in the background or for Read
	// publishing is held while a thumbnail is written, and while an erasure begins: no thumbnail is
	// written after an erasure that did not see it.
	publishing *semaphore.Weighted
}

// Config is what a Maker works with.
type Config struct {
	Store    imagegen.Store
	Images   imagegen.ImageStore
	Decoding *semaphore.Weighted // bytes of memory for decoding
	Budget   int64               // all of Decoding; a picture that needs more takes all of it

	Room   func(context.Context) error              // why the Store has no room; nil: it has
	Remove func(context.Context, imagegen.ImageKey) // removes all files of the attempt, whose generation is erased
	Log    *slog.Logger
}

// New returns a Maker with nothing to do.
func New(c Config) *Maker {
	return &Maker{Config: c, queue: make(chan imagegen.GenerationID, maxQueued), making: semaphore.NewWeighted(1),
		publishing: semaphore.NewWeighted(1)}
}

// Enqueue has the thumbnails of a generation made in the background. It never blocks: if
// the queue is full, they are made when somebody looks at them.
func (m *Maker) Enqueue(id imagegen.GenerationID) {
	select {
	case m.queue <- id:
	default:
	}
}

// Exclusive runs do while no thumbnail is being published: before or after, but never
// between the check of its record and the writing of its file.
func (m *Maker) Exclusive(ctx context.Context, do func() error) error {
	if err := m.publishing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer m.publishing.Release(1)
	return do()
}

// Read returns the thumbnail of a published image, and makes it if there is none, which may
// wait for another one and for memory. ErrNotFound: the image is not there, or its generation
// was erased meanwhile.
func (m *Maker) Read(ctx context.Context, r imagegen.Record, i imagegen.StoredImage) ([]byte, error) {
	return m.get(ctx, r.ImageKey(i), m.Decoding.Acquire)
}

// get reads a thumbnail or makes it. acquire reserves memory for decoding: Read waits for
// it, the background does not.
func (m *Maker) get(ctx context.Context, of imagegen.ImageKey, acquire func(context.Context, int64) error) (
	[]byte, error) {
	key := of
	key.Image = of.Image.Thumbnail()
	b, err := m.read(ctx, key)
	if !errors.Is(err, imagegen.ErrNotFound) {
		return b, err
	}
	if err := m.making.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer m.making.Release(1)
	if b, err := m.read(ctx, key); !errors.Is(err, imagegen.ErrNotFound) { // somebody else has made it meanwhile
		return b, err
	}
	b, err = m.draw(ctx, of, acquire)
	if err != nil {
		return nil, err
	}
	return b, m.Exclusive(ctx, func() error { return m.publish(ctx, key, b) })
}

// read opens a thumbnail and reads all of it.
func (m *Maker) read(ctx context.Context, k imagegen.ImageKey) ([]byte, error) {
	f, err := m.Images.OpenImage(ctx, k)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, picture.MaxThumbnailBytes))
}

// draw makes the thumbnail of a stored image.
func (m *Maker) draw(ctx context.Context, k imagegen.ImageKey, acquire func(context.Context, int64) error) (
	[]byte, error) {
	f, err := m.Images.OpenImage(ctx, k)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	header, err := picture.Examine(f)
	if err != nil {
		return nil, unreadable(k, err)
	}
	weight := min(picture.ThumbnailMemory(header), m.Budget)
	if err := acquire(ctx, weight); err != nil {
		return nil, err
	}
	defer m.Decoding.Release(weight)
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	decoded, err := header.Decode(f)
	if err != nil {
		return nil, unreadable(k, err)
	}
	return picture.Thumbnail(header, decoded)
}

func unreadable(k imagegen.ImageKey, err error) error {
	return fmt.Errorf("imagegen: image %s cannot be read: %w", k.Image, err)
}

// publish stores a thumbnail, unless its generation can no longer be seen. If the Store
// would accept no generation, it has no room for a thumbnail either. A thumbnail that
// could not be stored is still returned to the caller.
func (m *Maker) publish(ctx context.Context, k imagegen.ImageKey, b []byte) error {
	r, err := m.Store.Generation(ctx, k.Generation)
	switch {
	case err != nil:
		return err
	case !r.Visible():
		return imagegen.ErrNotFound
	}
	err = m.Room(ctx)
	if err == nil {
		err = m.Images.PutImage(ctx, k, bytes.NewReader(b))
		m.removeIfErased(ctx, k)
	}
	if err != nil && ctx.Err() == nil { // it can be looked at all the same
		m.Log.WarnContext(ctx, "a thumbnail was not stored", "image", k.Image, "error", err)
	}
	return nil
}

// removeIfErased removes a thumbnail that was written while another process erased its
// generation. An erasure in this process waits, see Exclusive.
func (m *Maker) removeIfErased(ctx context.Context, k imagegen.ImageKey) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	r, err := m.Store.Generation(ctx, k.Generation)
	if errors.Is(err, imagegen.ErrNotFound) || err == nil && !r.Visible() {
		m.Remove(ctx, k)
	}
}

var errNoMemory = errors.New("imagegen: the memory for decoding is in use")

// tryDecoding reserves memory for decoding only if it is free.
func (m *Maker) tryDecoding(_ context.Context, bytes int64) error {
	if !m.Decoding.TryAcquire(bytes) {
		return errNoMemory
	}
	return nil
}

// Run makes the queued thumbnails, slowly, until ctx ends.
func (m *Maker) Run(ctx context.Context) {
	for {
		select {
		case id := <-m.queue:
			m.makeAll(ctx, id)
		case <-ctx.Done():
			return
		}
	}
}

// makeAll makes the thumbnails of one generation and rests after each. It does not wait for
// memory, which generations need: what it cannot make now is left for Read.
func (m *Maker) makeAll(ctx context.Context, id imagegen.GenerationID) {
	r, err := m.Store.Generation(ctx, id)
	if err != nil || !r.Visible() {
		return
	}
	for _, i := range r.Images {
		began := time.Now()
		_, err := m.get(ctx, r.ImageKey(i), m.tryDecoding)
		if err != nil && ctx.Err() == nil && !errors.Is(err, imagegen.ErrNotFound) && !errors.Is(err, errNoMemory) {
			m.Log.WarnContext(ctx, "a thumbnail could not be made", "image", i.ID, "error", err)
		}
		select {
		case <-time.After(rest * time.Since(began)):
		case <-ctx.Done():
		}
	}
}
