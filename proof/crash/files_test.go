package crash_test

import (
	"context"
	"io"

	"github.com/imagegend/imagegend/imagegen"
)

// images is the image store of one process.
type images struct {
	imagegen.ImageStore
	*steps
}

func (i images) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	return act(i.steps, "PutImage", func() error { return i.ImageStore.PutImage(ctx, k, r) })
}

func (i images) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	return step(i.steps, "OpenImage", func() (io.ReadSeekCloser, error) { return i.ImageStore.OpenImage(ctx, k) })
}

func (i images) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	return act(i.steps, "RemoveImages", func() error { return i.ImageStore.RemoveImages(ctx, g, attempt, keep...) })
}

// spool is the spool of one process.
type spool struct {
	imagegen.Spool
	*steps
}

func (s spool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	return act(s.steps, "Stage", func() error { return s.Spool.Stage(ctx, id, r) })
}

func (s spool) Keep(ctx context.Context, ids ...imagegen.ReferenceID) error {
	return act(s.steps, "Keep", func() error { return s.Spool.Keep(ctx, ids...) })
}

func (s spool) Open(ctx context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	return step(s.steps, "Open", func() (io.ReadCloser, error) { return s.Spool.Open(ctx, id) })
}

func (s spool) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	return act(s.steps, "Remove", func() error { return s.Spool.Remove(ctx, ids...) })
}
