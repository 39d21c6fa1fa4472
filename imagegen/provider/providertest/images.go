package providertest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// declares: name and capabilities are sensible and do not change.
func declares(t *testing.T, c Config) {
	is := is.New(t)
	p := c.New(t)
	is.True(p.Name() != "")             // a provider has a name
	is.Equal(p.Name(), p.Name())        // which stays
	is.Equal(p.Name(), c.New(t).Name()) // and is the same for every instance
	can := p.Capabilities()
	is.Equal(can, p.Capabilities())
	is.True(subset(can.Ratios, imagegen.Ratios())) // each ratio is one of the specification, and stands once
	is.True(subset(can.Tiers, imagegen.Tiers()))
	is.True(can.MaxReferences >= 0 && can.MaxReferences <= imagegen.MaxReferences)
	is.True(can.MaxImages >= 0)
	is.True(can.MaxPrompt >= 0 && can.MaxPrompt <= imagegen.MaxPromptRunes)
}

// subset reports whether some are of all, each at most once. nil stands for all of them; an empty slice is none.
func subset[T comparable](some, all []T) bool {
	for i, v := range some {
		if !slices.Contains(all, v) || slices.Contains(some[:i], v) {
			return false
		}
	}
	return some == nil || len(some) > 0
}

// ratiosAndTiers: an image fits each ratio and tier that is declared.
func ratiosAndTiers(t *testing.T, c Config) {
	p := c.New(t)
	for i, ratio := range c.ratios(p) {
		for j, tier := range tiers(p) {
			if c.Sample && i > 0 && j > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s %s", ratio, tier), func(t *testing.T) {
				t.Parallel()
				is := is.New(t)
				r := c.request(p)
				r.Size, r.Ratio, r.Tier = imagegen.Size{}, ratio, tier
				is.NoErr(imagegen.CheckRequest(p, r)) // what is declared is not refused
				sizes, ended := collect(t, t.Context(), p, r)
				is.NoErr(ended)
				is.Equal(len(sizes), 1)
				is.NoErr(r.Fits(sizes[0])) // ratio and tier are met
			})
		}
	}
}

// ratios are those that ratiosAndTiers draws: all, or of a sample the first, the widest and the tallest.
func (c Config) ratios(p imagegen.Provider) []imagegen.Ratio {
	all := ratios(p)
	if !c.Sample {
		return all
	}
	byAspect := func(a, b imagegen.Ratio) int { return cmp.Compare(a.Aspect(), b.Aspect()) }
	return []imagegen.Ratio{all[0], slices.MaxFunc(all, byAspect), slices.MinFunc(all, byAspect)}
}

// usualSizes: images have exactly the usual sizes, if Config.Usual says so.
func usualSizes(t *testing.T, c Config) {
	if !c.Usual {
		return
	}
	is := is.New(t)
	p := c.New(t)
	for _, ratio := range ratios(p) {
		for _, tier := range tiers(p) {
			r := c.request(p)
			r.Size, r.Ratio, r.Tier = imagegen.Size{}, ratio, tier
			sizes, err := Collect(t.Context(), p, r)
			is.NoErr(err)
			is.Equal(sizes, []imagegen.Size{imagegen.SizeFor(ratio, tier)})
		}
	}
}

// explicitSizes: for an explicit size there is an image from which the engine can make it, or a refusal.
func explicitSizes(t *testing.T, c Config) {
	p := c.New(t)
	for _, size := range []imagegen.Size{{Width: 64, Height: 64}, {Width: 512, Height: 512}, {Width: 1000, Height: 750},
		{Width: 1001, Height: 667}, {Width: 1920, Height: 1080}, {Width: 720, Height: 1280}} {
		t.Run(size.String(), func(t *testing.T) {
			is := is.New(t)
			r := c.request(p)
			choice, refused := engine.SizeFirst(size, imagegen.QualityAuto, imagegen.ModelInfo{Ratios: ratios(p)})
			if refused != nil || !slices.Contains(tiers(p), choice.Tier) {
				return // the engine refuses it
			}
			r.Size, r.Ratio, r.Tier = size, choice.Ratio, choice.Tier
			if err := imagegen.CheckRequest(p, r); err != nil {
				refusal, ok := errors.AsType[*imagegen.ProviderError](err)
				// a refusal says what to change
				is.True(ok && refusal.Class == imagegen.ClassInvalid && refusal.Message != "")
				return
			}
			sizes, ended := collect(t, t.Context(), p, r)
			is.NoErr(ended)
			is.Equal(len(sizes), 1)
			is.NoErr(r.Fits(sizes[0])) // never scaled up, never bent
		})
	}
}

// counts: there are as many images as were asked for.
func counts(t *testing.T, c Config) {
	p := c.New(t)
	for n := 1; n <= maxImages(p); n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			is := is.New(t)
			r := c.request(p)
			r.N = n
			sizes, ended := collect(t, t.Context(), p, r)
			is.NoErr(ended)
			is.Equal(len(sizes), n)
		})
	}
}

// concurrent: several calls can run at once.
func concurrent(t *testing.T, c Config) {
	const callers = 8
	p := c.New(t)
	var calls sync.WaitGroup
	problems := make(chan error, callers)
	for range callers {
		calls.Go(func() {
			sizes, ended := collect(t, t.Context(), p, c.request(p))
			if ended == nil && len(sizes) != 1 {
				ended = fmt.Errorf("%d images instead of one", len(sizes))
			}
			problems <- ended
		})
	}
	calls.Wait()
	for range callers {
		is.New(t).NoErr(<-problems)
	}
}
