package openai

import (
	"context"
	"io"
	"slices"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// answer is one answer of the upstream, which is read while it arrives.
type answer struct {
	provider *Provider
	n        int // how many images were asked for; a surplus is ignored
	yield    upstream.Yield
	inline   [][]int        // the places in data that held their image
	links    upstream.Named // the places in data that named it
	problem  problem        // some services send an error with the status 200
}

// read yields the images that the answer holds, then those that it names. It returns nil if no
// more are wanted.
func (a *answer) read(ctx context.Context, body io.Reader) error {
	if wanted, err := upstream.Each(ctx, upstream.Strings(body), a.take); err != nil || !wanted {
		return err
	}
	if a.problem != (problem{}) {
		return a.problem.asError()
	}
	return a.links.Fetch(ctx, a.provider.client, a.inline, a.n-len(a.inline), a.yield)
}

// take looks at one string of the answer.
func (a *answer) take(s upstream.String) (wanted bool, err error) {
	switch s.Path {
	case "data[].b64_json":
		if len(a.inline) == a.n {
			return true, nil
		}
		if s.Begin(1) == "" {
			return true, nil // some services send "" beside a url
		}
		a.inline = append(a.inline, slices.Clone(s.Places))
		return a.yield(upstream.Base64(s)), nil
	case "data[].url":
		if len(a.links) == a.n {
			return true, nil
		}
		url, err := s.Text()
		if url != "" {
			a.links.Add(s.Places, url)
		}
		return true, err
	case "error.message":
		a.problem.Message, err = s.Text()
	case "error.code":
		a.problem.Code, err = s.Text()
	case "error.type":
		a.problem.Type, err = s.Text()
	}
	return true, err
}
