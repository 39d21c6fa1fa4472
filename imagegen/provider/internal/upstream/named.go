package upstream

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"
)

// Named collects the images of an answer that came as addresses, in their order. They are fetched when the answer has
// been read, because a later field may bring the same image inline. The zero value is empty.
type Named []namedImage

// namedImage is an address and where it stood.
type namedImage struct {
	places  []int
	in      string // the path of the object around it
	address string
}

// Add notes what came in place of an image, unless there are as many as most, or the last was another form of the same
// image. An address even then takes the place of the last if that is none.
func (n *Named) Add(i namedImage, most int) {
	last := len(*n) - 1
	switch {
	case last+1 < most && (last < 0 || !(*n)[last].isFormOf(i)):
		*n = append(*n, i)
	case isAddress(i.address) && !isAddress((*n)[last].address):
		(*n)[last] = i
	}
}

// isFormOf reports whether i and other stand in the same object within an array.
func (i namedImage) isFormOf(other namedImage) bool {
	return len(i.places) > 0 && i.in == other.in && slices.Equal(i.places, other.places)
}

// isAddress reports whether s is meant as an address that can be fetched.
func isAddress(s string) bool {
	begin := strings.ToLower(s[:min(len(s), len("https:"))])
	return strings.HasPrefix(begin, "http:") || begin == "https:" || strings.HasPrefix(begin, "/")
}

// sameImage reports whether strings at these places are of one image: whether they stand in the same element of as many
// arrays as both stand in.
func sameImage(a, b []int) bool {
	common := min(len(a), len(b))
	return slices.Equal(a[:common], b[:common])
}

// fetchNamed is Fetch. What has neither a colon nor a dot nor a leading slash is not an address: it may be an image in
// base64 of a format that nobody takes, or "None", and the decoder of the image says best what is wrong with it.
func (c *Client) fetchNamed(ctx context.Context, address string) (io.ReadCloser, error) {
	if isAddress(address) || strings.ContainsAny(address, ":.") {
		return c.Fetch(ctx, address)
	}
	return io.NopCloser(Base64(strings.NewReader(address))), nil
}

// Deliver opens and yields up to most images, one after the other, and closes each when yield returns. One that cannot
// be opened does not cost the others: the last such error is returned at the end, or the context's cause if ctx ends.
// If no more images are wanted, it returns false and no error.
func Deliver[A any](ctx context.Context, from []A, most int, open func(context.Context, A) (io.ReadCloser, error),
	yield Yield) (wanted bool, failed error) {
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
	fetchTries = 5
	fetchPause = 500 * time.Millisecond // before the second try; before each further one it is as much longer
)

// Patient opens an image with fetch. It tries five times within five seconds, since the image is already paid for, and
// some upstreams name an address before their network of caches has the image.
func Patient(fetch func(context.Context, string) (io.ReadCloser, error)) func(context.Context, string) (io.ReadCloser,
	error) {
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
