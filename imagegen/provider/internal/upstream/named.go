package upstream

import (
	"context"
	"io"
	"slices"
	"time"
)

// Named collects the images of an answer that came as addresses, in their order. They are fetched when the answer has
// been read, because a later field may bring the same image inline. The zero value is empty.
type Named []namedImage

// namedImage is an address and where it stood.
type namedImage struct {
	places  []int
	address string
}

// Add notes an address and its String.Places.
func (n *Named) Add(places []int, address string) {
	*n = append(*n, namedImage{slices.Clone(places), address})
}

// sameImage reports whether strings at these places are of one image: whether they stand in the same element of as many
// arrays as both stand in.
func sameImage(a, b []int) bool {
	common := min(len(a), len(b))
	return slices.Equal(a[:common], b[:common])
}

// Fetch yields up to most images, one after the other, and is [Patient]. It leaves out those that came inline, at the
// places in had. An image that cannot be fetched does not cost the others; the last such error is returned at the end.
// The error is nil if no more are wanted, and the context's cause if ctx ends.
func (n Named) Fetch(ctx context.Context, c *Client, had [][]int, most int, yield Yield) error {
	var missing []string
	for _, i := range n {
		if !slices.ContainsFunc(had, func(places []int) bool { return sameImage(places, i.places) }) {
			missing = append(missing, i.address)
		}
	}
	_, err := Deliver(ctx, missing, most, Patient(c.Fetch), yield)
	return err
}

// Deliver opens and yields up to most images, one after the other, and closes each when yield returns. One that cannot
// be opened does not cost the others: the last such error is returned at the end, or the context's cause if ctx ends.
// If no more images are wanted, it returns false and no error.
func Deliver[A any](ctx context.Context, from []A, most int, open func(context.Context, A) (io.ReadCloser, error), yield Yield) (wanted bool, failed error) {
	for _, address := range from {
		if most == 0 {
			break
		}
		image, err := open(ctx, address)
		if err != nil && ctx.Err() != nil {
			return true, context.Cause(ctx)
		}
		if err != nil {
			failed = err
			continue
		}
		most--
		wanted := yield(image)
		image.Close()
		if !wanted {
			return false, nil
		}
	}
	return true, failed
}

const (
	fetchTries = 3
	fetchPause = 500 * time.Millisecond // before the second try; before the third it is twice as long
)

// Patient opens an image with fetch. It tries three times, since the image is already paid for.
func Patient(fetch func(context.Context, string) (io.ReadCloser, error)) func(context.Context, string) (io.ReadCloser, error) {
	return func(ctx context.Context, address string) (image io.ReadCloser, err error) {
		for try := range fetchTries {
			if err := Sleep(ctx, time.Duration(try)*fetchPause); err != nil {
				return nil, err
			}
			if image, err = fetch(ctx, address); err == nil {
				return image, nil
			}
		}
		return nil, err
	}
}
