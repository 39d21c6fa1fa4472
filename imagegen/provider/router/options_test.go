package router_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

// The rest that another member makes goes on with the seeds, so that no picture comes twice.
func TestSeedsOfTheRest(t *testing.T) {
	is := is.New(t)
	can := imagegen.Capabilities{MaxSeed: 100}
	first, second := member("first", makes(2, failure(imagegen.ClassUnavailable, 0))), member("second", works)
	first.can, second.can = can, can
	r := request(3)
	r.Options.Seed = new(int64(40))
	made, err := call(t.Context(), build(t, router.Config{}, first, second), r)
	is.NoErr(err)
	is.Equal(len(made), 3)
	is.Equal(*first.asked[0].Options.Seed, int64(40))
	is.Equal(*second.asked[0].Options.Seed, int64(42))
	is.Equal(*r.Options.Seed, int64(40))
}

// Only a member that declares what is asked for is asked.
func TestMembersWithAnOption(t *testing.T) {
	for name, ask := range map[string]func(*imagegen.ProviderRequest){
		"seed":        func(r *imagegen.ProviderRequest) { r.Options.Seed = new(int64(1)) },
		"webp":        func(r *imagegen.ProviderRequest) { r.Options.Format = imagegen.FormatWebP },
		"transparent": func(r *imagegen.ProviderRequest) { r.Options.Background = imagegen.BackgroundTransparent },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			plain, able := member("plain", works), member("able", works)
			able.can = imagegen.Capabilities{MaxSeed: 9, Formats: imagegen.Formats(), Transparent: true}
			p := build(t, router.Config{}, plain, able)
			r := request(1)
			ask(&r)
			for range 5 {
				made, err := call(t.Context(), p, r)
				is.NoErr(err)
				is.Equal(made, []string{"able"})
			}
			is.Equal(plain.calls(), 0)
		})
	}
}
