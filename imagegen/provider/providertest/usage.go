package providertest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Used has r sum up what a provider says that it has used, and returns a function that tells the sum so far.
func Used(r *imagegen.ProviderRequest) (sum func() imagegen.UpstreamUsage) {
	var mu sync.Mutex
	var all imagegen.UpstreamUsage
	r.Used = func(u imagegen.UpstreamUsage) {
		mu.Lock()
		defer mu.Unlock()
		all = all.Plus(u)
	}
	return func() imagegen.UpstreamUsage {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// watchUse fails the test if r.Used is called with a negative field, or after returned has been called.
func watchUse(t *testing.T, r *imagegen.ProviderRequest) (returned func()) {
	var over atomic.Bool
	r.Used = func(u imagegen.UpstreamUsage) {
		if over.Load() {
			t.Errorf("%+v was reported as used after the call had returned", u)
		}
		if min(u.TextInput, u.ImageInput, u.TextOutput, u.ImageOutput, int64(u.Units), int64(u.Time)) < 0 {
			t.Errorf("less than nothing was used: %+v", u)
		}
	}
	return func() { over.Store(true) }
}

// usedInTime: what is reported as used is not negative, and nothing is reported after the call, also if that is broken
// off, or its context ends at the same time. All other parts that use collect look at this too.
func usedInTime(t *testing.T, c Config) {
	is := is.New(t)
	p := c.New(t)
	for taken := 1; taken <= maxImages(p); taken++ {
		for _, late := range []bool{false, true} {
			r := c.request(p)
			r.N = maxImages(p)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			returned, images := watchUse(t, &r), 0
			for _, err := range p.Generate(ctx, r) {
				is.NoErr(err)
				if images++; images == taken {
					if late {
						cancel()
					}
					break
				}
			}
			returned()
			is.Equal(images, taken)
		}
	}
}
