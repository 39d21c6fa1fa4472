package engine

import (
	"bytes"
	"context"
	"io"

	"github.com/imagegend/imagegend/imagegen/engine/internal/stream"
)

const (
	// An image is held in memory while it is checked if it has at most inMemoryBytes and all images
	// together stay within receiveBudget; else it goes through the spool.
	inMemoryBytes = 4 << 20
	receiveBudget = 64 << 20
	receiveStep   = 64 << 10
)

// received is a complete image as the provider sent it, in memory or in the spool.
type received struct {
	open    func(context.Context) (io.ReadCloser, error)
	discard func()
}

// receive reads a provider's image to its end, so that a slow upstream holds neither the
// decoding budget nor an image file. Memory is reserved piece by piece and never waited for:
// when the budget is used up, the image goes on into the spool with what has come of it.
func (e *Engine) receive(ctx context.Context, body io.Reader) (received, error) {
	var image pieces
	discard := func() { e.receiving.Release(int64(len(image)) * receiveStep) }
	for len(image) < inMemoryBytes/receiveStep && e.receiving.TryAcquire(receiveStep) {
		err := image.add(body)
		if err == io.EOF {
			return received{image.open, discard}, nil
		}
		if err != nil {
			discard()
			return received{}, &badImageError{err}
		}
	}
	defer discard()
	return e.receiveSpooled(ctx, io.MultiReader(image.reader(), body))
}

// pieces are an image in memory, receiveStep bytes each, so that the memory that is
// counted is the memory that is used.
type pieces []*bytes.Buffer

// add reads one more piece. io.EOF: it was the last one.
func (p *pieces) add(r io.Reader) error {
	piece := bytes.NewBuffer(make([]byte, 0, receiveStep+bytes.MinRead))
	*p = append(*p, piece)
	_, err := io.CopyN(piece, r, receiveStep)
	return err
}

func (p pieces) reader() io.Reader {
	readers := make([]io.Reader, len(p))
	for i, piece := range p {
		readers[i] = bytes.NewReader(piece.Bytes())
	}
	return io.MultiReader(readers...)
}

func (p pieces) open(context.Context) (io.ReadCloser, error) { return io.NopCloser(p.reader()), nil }

// receiveSpooled writes a provider's image to the spool.
func (e *Engine) receiveSpooled(ctx context.Context, body io.Reader) (received, error) {
	id := e.ids.Reference(e.cfg.Now())
	in := &stream.Meter{R: body, Most: maxImageBytes}
	if err := e.spool.Stage(ctx, id, in); err != nil {
		if in.MayBeKept(err) {
			e.removeSpooled(id)
		}
		if in.Over || in.Err != nil {
			return received{}, &badImageError{err}
		}
		return received{}, storageError(err)
	}
	open := func(ctx context.Context) (io.ReadCloser, error) { return e.spool.Open(ctx, id) }
	return received{open, func() { e.removeSpooled(id) }}, nil
}
