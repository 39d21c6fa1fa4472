package imagegen

import (
	"bytes"
	"context"
	"io"
)

const (
	// An image is held in memory while it is checked if it has at most inMemoryBytes and all images
	// together stay within receiveBudget; else it goes through the spool.
	inMemoryBytes = 4 << 20
	receiveBudget = 64 << 20
	receiveStep   = 64 << 10
)

// received is an image as the provider sent it, complete, in memory or in the spool.
type received struct {
	open    func(context.Context) (io.ReadCloser, error)
	discard func()
}

// receive reads a provider's image to its end, so that what follows runs at the speed of this
// machine whatever the upstream's is.
func (e *Engine) receive(ctx context.Context, body io.Reader) (received, error) {
	var image bytes.Buffer
	var held int64
	discard := func() { e.receiving.Release(held) }
	kept := false
	defer func() { // also when body panics
		if !kept {
			discard()
		}
	}()
	for {
		_, err := io.CopyN(&image, body, receiveStep)
		if err == io.EOF {
			kept = true
			open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(image.Bytes())), nil }
			return received{open, discard}, nil
		}
		if err != nil {
			return received{}, &badImageError{err}
		}
		if image.Len() >= inMemoryBytes || !e.receiving.TryAcquire(receiveStep) {
			return e.receiveSpooled(ctx, io.MultiReader(&image, body))
		}
		held += receiveStep
	}
}

// receiveSpooled puts a provider's image into the spool.
func (e *Engine) receiveSpooled(ctx context.Context, body io.Reader) (received, error) {
	id := e.ids.Reference(e.cfg.Now())
	in := &meter{r: body, most: maxImageBytes}
	if err := e.spool.Stage(ctx, id, in); err != nil {
		if in.over || in.err != nil {
			return received{}, &badImageError{err}
		}
		return received{}, storing(err)
	}
	open := func(ctx context.Context) (io.ReadCloser, error) { return e.spool.Open(ctx, id) }
	return received{open, func() { e.removeSpooled(id) }}, nil
}
