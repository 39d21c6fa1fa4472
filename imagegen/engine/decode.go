package engine

import (
	"context"
	"image"
	"io"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/picture"
)

// decodeBudget bounds the bytes of images that are decoded at the same time. An image
// that needs more is decoded alone. No image needs more than twenty bytes for each of its
// pixels, of which there are at most MaxEdge × MaxEdge, and four for each pixel that was
// asked for.
const decodeBudget = 64 << 20

// fit makes what was asked for of a received image, and decodes it only if that is necessary. It keeps raw for the
// caller.
func (a *attempt) fit(ctx context.Context, raw *received, t picture.Target) (d deliverable, err error) {
	header, err := raw.examine(ctx)
	if err != nil {
		return d, err
	}
	if err := a.lacks(header); err != nil { // the beginning of the file may have another size
		return d, &badImageError{err}
	}
	if t.Matches(header) && a.model.verification() == imagegen.VerifyStructure {
		return a.engine.unconverted(ctx, raw, header, t)
	}
	return a.engine.convert(ctx, raw, header, t)
}

// convert decodes a received image that was examined, and returns what was asked for. It keeps raw for the caller.
func (e *Engine) convert(ctx context.Context, raw *received, header picture.Header,
	t picture.Target) (d deliverable, err error) {
	weight := min(t.Memory(header), decodeBudget)
	if err := e.decoding.Acquire(ctx, weight); err != nil {
		return d, context.Cause(ctx)
	}
	defer e.decoding.Release(weight) // also when a Spool panics
	decoded, err := raw.decode(ctx, header)
	if err != nil {
		return d, err
	}
	if t.Matches(header) || picture.IsOpaque(decoded) && t.MatchesExceptPixels(header) {
		return e.unconverted(ctx, raw, header, t)
	}
	if t.Format == imagegen.FormatWebP {
		return d, &badImageError{errNoWebP}
	}
	by, fitting := t.Encoder(header), t.Render(header, decoded)
	size := fitting.Bounds().Size()
	r, w := io.Pipe()
	defer r.Close()
	go func() { w.CloseWithError(by.Encode(w, fitting)) }() // for an encoder writes and receive reads
	encoded, err := e.receive(ctx, by.Mark(r), e.unstored)
	return deliverable{by.MediaType, imagegen.Size{Width: size.X, Height: size.Y}, imagegen.ProvenanceRewritten,
		encoded}, err
}

// examine reads the whole image, and decodes nothing of it.
func (r *received) examine(ctx context.Context) (picture.Header, error) {
	f := r.newReader(ctx)
	defer f.Close()
	header, err := picture.Examine(f)
	if err != nil {
		return header, f.unusable(err)
	}
	return header, nil
}

// decode decodes an image that is whole.
func (r *received) decode(ctx context.Context, header picture.Header) (image.Image, error) {
	f := r.newReader(ctx)
	defer f.Close()
	decoded, err := header.Decode(f)
	if err != nil {
		return nil, f.unusable(err)
	}
	return decoded, nil
}

// unconverted delivers an image just as it came, or without what its maker wrote beside the pixels; bytes behind its
// end are cut off.
func (e *Engine) unconverted(ctx context.Context, raw *received, h picture.Header,
	t picture.Target) (deliverable, error) {
	f := raw.newReader(ctx)
	defer f.Close()
	if t.Strip {
		stripped, err := e.receive(ctx, h.Strip(f), e.unstored)
		return deliverable{h.MediaType, h.Size, imagegen.ProvenanceRewritten, stripped}, err
	}
	whole, err := e.receive(ctx, h.Whole(f), e.unstored)
	return deliverable{h.MediaType, h.Size, asItCame(h.Notes), whole}, err
}

// asItCame is the provenance of an image that is stored as it came.
func asItCame(n picture.Notes) imagegen.Provenance {
	if n.Origin {
		return imagegen.ProvenanceKept
	}
	return imagegen.ProvenanceNone
}
