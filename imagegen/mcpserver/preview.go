package mcpserver

import (
	"context"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/picture"
)

// Clients refuse answers of more than a million characters, and a picture of the highest tier has several
// million.
const (
	previewEdge   = 1024       // the longest edge of a preview
	previewBytes  = 512 << 10  // before base64, which makes four thirds of it
	largestPixels = 40_000_000 // of an image that gets a preview: decoded it takes 160 MB
	largestBytes  = 100 << 20  // that are read of such an image

	// previewPatience is how long a call waits until those of others are made. It has waited for the image
	// already, and its client gives up soon.
	previewPatience = 5 * time.Second
)

// previewing is held while a preview is made: one at a time, in all servers of the process together, since
// a decoded image takes 4 bytes for each pixel.
var previewing = make(chan struct{}, 1)

// preview returns a small JPEG of an image; nil if none can be made, which is not a failure of the call.
func (t *tools) preview(ctx context.Context, m imagegen.Image) []byte {
	if m.Width*m.Height > largestPixels {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(previewPatience):
		return nil
	case previewing <- struct{}{}:
		defer func() { <-previewing }()
	}
	small, err := t.shrink(ctx, m.ID)
	if err != nil {
		t.Log.WarnContext(ctx, "no preview could be made", "image", m.ID, "error", err)
	}
	return small
}

// shrink makes a JPEG that is small enough for a preview, by lowering first the quality
// and then the size.
func (t *tools) shrink(ctx context.Context, id imagegen.ImageID) ([]byte, error) {
	f, err := t.OpenImage(ctx, id)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	header, err := picture.Examine(io.LimitReader(f, largestBytes))
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	decoded, err := header.Decode(f)
	if err != nil {
		return nil, err
	}
	for edge := previewEdge; ; edge /= 2 { // it ends: a picture of a few pixels always fits
		for _, quality := range []int{85, 70, 50} {
			small, err := picture.Preview(header, decoded, edge, quality)
			if err != nil || len(small) <= previewBytes {
				return small, err
			}
		}
	}
}
