package gemini_test

import (
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/gemini/internal/geminitest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// Each image has a call and a seed of its own; without one none is sent.
func TestSeeds(t *testing.T) {
	is := is.New(t)
	d := &geminitest.Server{}
	p := serve(t, d, nil)
	r := providertest.Request("a fox", 2)
	_, err := providertest.Read(t.Context(), p, r)
	is.NoErr(err)
	r.Options.Seed = new(int64(7))
	_, err = providertest.Read(t.Context(), p, r)
	is.NoErr(err)
	var seeds []int32
	for i, q := range d.Requests() {
		is.Equal(q.GenerationConfig.Seed != nil, i >= 2)
		if i >= 2 {
			seeds = append(seeds, *q.GenerationConfig.Seed)
		}
	}
	slices.Sort(seeds)
	is.Equal(seeds, []int32{7, 8})
	can := p.Capabilities()
	is.Equal(can.MaxSeed, int64(1)<<31-1)
	is.True(can.Formats == nil && !can.Transparent && !can.Mask) // of which the API has none
	r.Options = imagegen.Options{Background: imagegen.BackgroundTransparent}
	is.Equal(providertest.Error(t, imagegen.CheckRequest(p, r)).Field, "background")
}
