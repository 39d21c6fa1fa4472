package providertest

import (
	"io"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// keepsConnections: calls that follow one another share their connections, although nothing is asked of an answer once
// its images have come. So the pictures are large: what is left of a small one may be in memory by then.
func keepsConnections(t *testing.T, c Config) {
	const rounds = 10
	is := is.New(t)
	p := c.New(t)
	var opened atomic.Int64
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(g httptrace.GotConnInfo) {
		if !g.Reused {
			opened.Add(1)
		}
	}})
	first := int64(0)
	for i := range rounds {
		r := c.request(p)
		r.Size, r.Ratio, r.Tier = imagegen.Size{}, ratios(p)[0], slices.Max(tiers(p))
		came := 0
		for image, err := range p.Generate(ctx, r) {
			is.NoErr(err)
			_, err = io.Copy(io.Discard, image.Body)
			is.NoErr(err)
			if came++; came == r.N {
				break // as the engine does
			}
		}
		is.Equal(came, r.N)
		if i == 0 {
			first = opened.Load()
		}
	}
	is.True(opened.Load() <= first+rounds/10)
}
