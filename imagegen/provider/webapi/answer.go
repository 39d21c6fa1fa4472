package webapi

import (
	"context"
	"io"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// answer is one answer of the API, which is read while it arrives.
type answer struct {
	*Provider
	upstream.Found
	request imagegen.ProviderRequest
	said    []string // what stands at the paths in Config.Errors
	used    imagegen.UpstreamUsage
}

// decode yields the images that the answer holds, then those that it names. It returns nil if no more
// are wanted.
func (a *answer) decode(ctx context.Context, body io.Reader) error {
	wanted, err := upstream.Each(ctx, body, upstream.Values, a.takeValue)
	a.used.Surplus = a.Surplus()
	upstream.Report(a.request, a.used)
	if err != nil || !wanted {
		return err
	}
	if a.None() {
		return a.config.nothing(body, a.said)
	}
	return a.Fetch(ctx, a.client)
}

// takeValue looks at one string or number of the answer.
func (a *answer) takeValue(s upstream.String) (wanted bool, err error) {
	switch {
	case s.Literal != "":
		a.used = a.used.Plus(a.config.Usage.of(s.Path, s.Literal))
	case slices.Contains(a.config.Images, s.Path):
		return a.Take(s)
	case slices.Contains(a.config.Errors, s.Path):
		text, err := s.Message()
		a.said = append(a.said, text)
		return true, err
	}
	return true, nil
}
