package router_test

import (
	"context"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

// uses says before a turn, and after it, that something was used.
func uses(t turn) turn {
	return func(ctx context.Context, r imagegen.ProviderRequest, put func() bool) error {
		r.Used(imagegen.UpstreamUsage{ImageOutput: 100})
		err := t(ctx, r, put)
		r.Used(imagegen.UpstreamUsage{TextOutput: 1})
		return err
	}
}

// What members have used counts, also of those that fail, and what they say after their last image.
func TestUsed(t *testing.T) {
	is := is.New(t)
	p := build(t, router.Config{}, member("a", uses(makes(1, failure(imagegen.ClassUnavailable, 0)))),
		member("b", uses(works)))
	r := request(3)
	used, images := providertest.Used(&r), 0
	for _, err := range p.Generate(t.Context(), r) {
		is.NoErr(err)
		if images++; images == 3 {
			break
		}
	}
	is.Equal(used(), imagegen.UpstreamUsage{ImageOutput: 200, TextOutput: 2})
}
