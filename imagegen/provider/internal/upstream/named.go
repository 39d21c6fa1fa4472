package upstream

import (
	"context"
	"slices"
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

// Fetch yields up to most images, one after the other. It leaves out those that came inline, at the places in had. An
// image that cannot be fetched does not cost the others; the last such error is returned at the end. The error is nil
// if no more are wanted, and the context's cause if ctx ends.
func (n Named) Fetch(ctx context.Context, c *Client, had [][]int, most int, yield Yield) (failed error) {
	for _, i := range n {
		if most == 0 {
			break
		}
		if slices.ContainsFunc(had, func(places []int) bool { return sameImage(places, i.places) }) {
			continue
		}
		image, err := c.Fetch(ctx, i.address)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			failed = err
			continue
		}
		most--
		wanted := yield(image)
		image.Close()
		if !wanted {
			return nil
		}
	}
	return failed
}
