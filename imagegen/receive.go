package imagegen

import (
	"context"
	"io"
)

const (
	// An image is held in memory while it is checked if it has at most inMemoryBytes and all images
	// together stay within receiveBudget; else it goes through the spool.
	inMemoryBytes = 4 << 20
	receiveBudget = 64 << 20
)

// received is an image as the provider sent it, complete, in memory or in the spool.
type received struct {
	open    func(context.Context) (io.ReadCloser, error)
	discard func()
	long    bool // so that it is worth another goroutine
}

// receive reads a provider's image to its end, so that what follows runs at the speed of this
// machine whatever the upstream's is.
func (e *Engine) receive(ctx context.Context, body io.Reader) (received, error) {
	var image chunks
	var held int64
	discard := func() {
		image.free()
		e.receiving.Release(held)
	}
	kept := false
	defer func() { // also when body panics
		if !kept {
			discard()
		}
	}()
	for {
		more, err := image.fill(body)
		if err != nil {
			return received{}, &badImageError{err}
		}
		if !more {
			kept = true
			open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(image.reader()), nil }
			return received{open, discard, len(image) > 1}, nil
		}
		if len(image) == inMemoryBytes/chunkSize || !e.receiving.TryAcquire(chunkSize) {
			return e.receiveSpooled(ctx, io.MultiReader(image.reader(), body))
		}
		held += chunkSize
	}
}

// receiveSpooled puts a provider's image into the spool.
func (e *Engine) receiveSpooled(ctx context.Context, body io.Reader) (received, error) {
	id := ReferenceID(e.ids.next(referencePrefix, e.cfg.Now()))
	in := &meter{r: body, most: maxImageBytes}
	if err := e.spool.Stage(ctx, id, in); err != nil {
		if in.over || in.err != nil {
			return received{}, &badImageError{err}
		}
		return received{}, storing(err)
	}
	open := func(ctx context.Context) (io.ReadCloser, error) { return e.spool.Open(ctx, id) }
	return received{open, func() { e.removeSpooled(id) }, true}, nil
}
