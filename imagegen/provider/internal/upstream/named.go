package upstream

import (
	"context"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// Named collects the images of an answer that came as addresses, in their order. They are fetched when the answer has
// been read, because a later field may bring the same image inline. The zero value is empty.
type Named []namedImage

// namedImage is an address and the place of its image, as in String.Index.
type namedImage struct {
	index   int
	address string
}

// Add notes the address of the image with that String.Index.
func (n *Named) Add(index int, address string) { *n = append(*n, namedImage{index, address}) }

// Fetch yields up to most images, one after the other. It leaves out those whose index is in had, since they came
// inline. An image that cannot be fetched does not cost the others; the last such error is returned at the end. The
// error is nil if yield wants no more, and the context's cause if ctx ends.
func (n Named) Fetch(ctx context.Context, c *Client, had []int, most int, yield func(imagegen.ProviderImage, error) bool) (failed error) {
	for _, i := range n {
		if most == 0 {
			break
		}
		if slices.Contains(had, i.index) {
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
		wanted := yield(imagegen.ProviderImage{Body: image}, nil)
		image.Close()
		if !wanted {
			return nil
		}
	}
	return failed
}
