package webapi

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// answer is one answer of the API, which is read while it arrives.
type answer struct {
	*Provider
	n      int // how many images were asked for; a surplus is ignored
	yield  upstream.Yield
	inline [][]int        // the places of images that were inline
	links  upstream.Named // images that came as addresses
	said   []string       // what stands at the paths in Config.Errors
}

// read yields the images that the answer holds, then those that it names. It returns nil if no more
// are wanted.
func (a *answer) read(ctx context.Context, body io.Reader) error {
	if wanted, err := upstream.Each(ctx, upstream.Strings(body), a.take); err != nil || !wanted {
		return err
	}
	if len(a.links) > 0 {
		return a.links.Fetch(ctx, a.client, a.inline, a.n-len(a.inline), a.yield)
	}
	if len(a.inline) > 0 {
		return nil
	}
	return a.config.nothing(a.said)
}

// take looks at one string of the answer.
func (a *answer) take(s upstream.String) (wanted bool, err error) {
	switch {
	case slices.Contains(a.config.Images, s.Path):
		return a.image(s)
	case slices.Contains(a.config.Errors, s.Path):
		text, err := s.Text()
		a.said = append(a.said, text)
		return true, err
	}
	return true, nil
}

// image distinguishes an address from an inline image by how the string begins. An address is only noted: another field
// may still bring the same image inline.
func (a *answer) image(s upstream.String) (wanted bool, err error) {
	if len(a.inline) == a.n {
		return true, nil
	}
	begin := s.Begin(len("https:"))
	if begin == "" {
		return true, nil // some send "" beside the other way; a broken answer is found broken by the next step
	}
	if strings.HasPrefix(begin, "http:") || strings.HasPrefix(begin, "https:") {
		if len(a.links) == a.n {
			return true, nil
		}
		text, err := s.Text()
		a.links.Add(s.Places, text)
		return true, err
	}
	a.inline = append(a.inline, slices.Clone(s.Places))
	return a.yield(upstream.Base64(s)), nil
}
