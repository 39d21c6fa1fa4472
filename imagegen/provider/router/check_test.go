package router_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

// specialists are a member for wide pictures and one for large ones.
func specialists() (wide, large *scripted) {
	wide, large = member("wide", works), member("large", works)
	wide.can = imagegen.Capabilities{Tiers: []imagegen.Tier{imagegen.Tier1K, imagegen.Tier2K}, MaxReferences: 3,
		MaxImages: 1}
	large.can = imagegen.Capabilities{Ratios: []imagegen.Ratio{"1:1"}, MaxPrompt: 10}
	return wide, large
}

func TestGoesOnlyToThoseWhoCan(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*imagegen.ProviderRequest)
		made   string
	}{
		"both can":  {func(*imagegen.ProviderRequest) {}, "wide"},
		"by tier":   {func(r *imagegen.ProviderRequest) { r.Tier = imagegen.Tier4K }, "large"},
		"by images": {func(r *imagegen.ProviderRequest) { r.N = 2 }, "large"},
		"by ratio":  {func(r *imagegen.ProviderRequest) { r.Ratio = "3:1" }, "wide"},
		"by prompt": {func(r *imagegen.ProviderRequest) { r.Prompt = "eleven rune" }, "wide"},
		"by references": {func(r *imagegen.ProviderRequest) { r.References = make([]imagegen.ProviderReference, 3) },
			"wide"},
		"by its own word": {func(r *imagegen.ProviderRequest) { r.Quality = imagegen.QualityHigh }, "large"},
		"any does auto":   {func(r *imagegen.ProviderRequest) { r.Ratio, r.N = imagegen.RatioAuto, 2 }, "large"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			wide, large := specialists()
			wide.check = func(r imagegen.ProviderRequest) error {
				if r.Quality == imagegen.QualityHigh {
					return failure(imagegen.ClassInvalid, 0)
				}
				return nil
			}
			p := build(t, router.Config{}, wide, large)
			r := request(1)
			test.change(&r)
			is.NoErr(p.Check(r))
			made, err := call(t.Context(), p, r)
			is.NoErr(err)
			is.Equal(made[0], test.made)
		})
	}
}

func TestNoFallOverToThoseWhoCannot(t *testing.T) {
	is := is.New(t)
	wide, large := specialists()
	wide.turns = []turn{fails(imagegen.ClassUnavailable)}
	r := request(1)
	r.Ratio = "3:1"
	_, err := call(t.Context(), build(t, router.Config{}, wide, large), r)
	is.Equal(classOf(err), int(imagegen.ClassUnavailable))
	is.Equal(large.calls(), 0)
}

// A request that no member can carry out whole is refused, also without a check.
func TestRefusesWhatNoMemberCan(t *testing.T) {
	is := is.New(t)
	wide, large := specialists()
	p := build(t, router.Config{}, wide, large)
	r := request(3)
	r.References = make([]imagegen.ProviderReference, 2)
	err := p.Check(r)
	is.Equal(classOf(err), int(imagegen.ClassInvalid))
	is.True(strings.Contains(err.Error(), "lower n to 1"))
	_, err = call(t.Context(), p, r)
	is.Equal(classOf(err), int(imagegen.ClassInvalid))
	is.Equal(wide.calls()+large.calls(), 0)
}

func TestMembersOwnRefusals(t *testing.T) {
	is := is.New(t)
	refuses := func(message string) func(imagegen.ProviderRequest) error {
		return func(imagegen.ProviderRequest) error {
			return &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: message}
		}
	}
	a, b, c := member("a", works), member("b", works), member("c", works)
	a.check, b.check, c.check = refuses("the nearest size is 1024x1024"), refuses("edges are multiples of 8"),
		refuses("edges are multiples of 8")
	err := build(t, router.Config{}, a, b, c).Check(request(1))
	is.Equal(err.Error(), "provider: invalid: the nearest size is 1024x1024; or edges are multiples of 8")
}
