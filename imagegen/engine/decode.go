package engine

import (
	"context"
	"image"
	"io"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/picture"
)

// decodeBudget bounds the bytes of images that are decoded at the same time. An image
// that needs more is decoded alone. No image needs more than twenty bytes for each of its
// pixels, of which there are at most MaxEdge × MaxEdge, and four for each pixel that was
// asked for.
const decodeBudget = 64 << 20

// decode decodes a received image and converts it to what was asked for. What it returns
// holds its share of the decoding budget until it is closed.
func (e *Engine) decode(ctx context.Context, raw received, header picture.Header, t picture.Target) (d deliverable, err error) {
	weight := min(t.Memory(header), decodeBudget)
	if err := e.decoding.Acquire(ctx, weight); err != nil {
		return d, context.Cause(ctx)
	}
	kept := false
	defer func() { // also when a Spool panics
		if !kept {
			e.decoding.Release(weight)
		}
	}()
	decoded, err := readImage(ctx, raw, header.DecodeWhole)
	if err != nil {
		return d, err
	}
	if t.Matches(header) || picture.IsOpaque(decoded) && t.MatchesExceptPixels(header) {
		return passthrough(header, raw), nil
	}
	if t.Format == imagegen.FormatWebP {
		return d, &badImageError{errNoWebP}
	}
	fitting := t.Render(header, decoded)
	kept = true
	return encoded(t.Encoder(header), fitting, func() { e.decoding.Release(weight) }), nil
}

// readImage opens a received image and reads something from it. A failure to read is the
// image's fault; a failure to open is the spool's.
func readImage[T any](ctx context.Context, raw received, read func(io.Reader) (T, error)) (v T, err error) {
	f, err := raw.open(ctx)
	if err != nil {
		return v, storageError(err)
	}
	defer f.Close()
	if v, err = read(f); err != nil {
		return v, &badImageError{err}
	}
	return v, nil
}

// passthrough delivers an image that was decoded for checking just as it came; bytes
// behind its end are cut off.
func passthrough(h picture.Header, raw received) deliverable {
	return deliverable{mediaType: h.MediaType, size: h.Size, open: func(ctx context.Context) (io.ReadCloser, error) {
		f, err := raw.open(ctx)
		if err != nil {
			return nil, err
		}
		return readCloser{h.Whole(f), f}, nil
	}}
}

// readCloser reads from one value and closes another.
type readCloser struct {
	io.Reader
	io.Closer
}

// encoded delivers an image that was changed. It holds its share of the decoding budget
// until it is stored.
func encoded(by picture.Encoder, fitting image.Image, release func()) deliverable {
	size := fitting.Bounds().Size()
	return deliverable{mediaType: by.MediaType, size: imagegen.Size{Width: size.X, Height: size.Y}, open: func(context.Context) (io.ReadCloser, error) {
		r, w := io.Pipe()
		e := encoding{r, make(chan struct{}), release}
		go func() { // for an encoder writes and an ImageStore reads
			defer close(e.done)
			w.CloseWithError(by.Encode(w, fitting))
		}()
		return e, nil
	}}
}

// encoding is the read side of an encoder that runs on a goroutine of its own.
type encoding struct {
	*io.PipeReader
	done    chan struct{}
	release func()
}

// Close stops the encoder even if it has more to write, waits for it, and releases its
// memory.
func (e encoding) Close() error {
	err := e.PipeReader.Close()
	<-e.done
	e.release()
	return err
}
