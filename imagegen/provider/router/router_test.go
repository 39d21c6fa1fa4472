package router_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

// sketches is a fake that draws the lowest tier only, which is quick.
type sketches struct{ *provider.Fake }

func (s sketches) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{Tiers: []imagegen.Tier{imagegen.Tier1K}, MaxReferences: 2}
}

func TestProvider(t *testing.T) {
	for name, members := range map[string]func() []router.Member{
		"weights": func() []router.Member {
			return []router.Member{
				{Name: "one", Provider: sketches{&provider.Fake{}}, Weight: 1, MaxConcurrent: 2},
				{Name: "two", Provider: sketches{&provider.Fake{}}, Weight: 2, MaxConcurrent: 2},
			}
		},
		"the first one is down": func() []router.Member {
			return []router.Member{
				{Provider: &scripted{name: "down", can: sketches{}.Capabilities(),
					turns: []turn{fails(imagegen.ClassUnavailable)}}},
				{Provider: sketches{&provider.Fake{}}},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			providertest.Run(t, providertest.Config{
				New: func(t *testing.T) imagegen.Provider {
					p, err := router.New(router.Config{Members: members()})
					is.New(t).NoErr(err)
					return p
				},
				Endless: "[fake:hang]",
				Sample:  true,
			})
		})
	}
}

// A router keeps what a member can do, whatever that is: another router has every optional part.
func TestForwards(t *testing.T) {
	is := is.New(t)
	inner, err := router.New(router.Config{Members: []router.Member{{Provider: &provider.Fake{}, MaxConcurrent: 3}}})
	is.NoErr(err)
	outer, err := router.New(router.Config{Members: []router.Member{{Provider: inner}}})
	is.NoErr(err)
	providertest.Forwards(t, outer, inner)
	is.Equal(outer.MaxConcurrent(), 3)
	own, err := router.New(router.Config{Members: []router.Member{{Provider: inner, MaxConcurrent: 2}}})
	is.NoErr(err)
	is.Equal(own.MaxConcurrent(), 2) // what the member is given goes before what its provider says
}

func TestNew(t *testing.T) {
	fake := &provider.Fake{}
	for says, c := range map[string]router.Config{
		"Members is empty":             {},
		"has no Provider":              {Members: []router.Member{{Name: "a"}}},
		`two members are named "fake"`: {Members: []router.Member{{Provider: fake}, {Provider: fake}}},
		"Weight is -1":                 {Members: []router.Member{{Provider: fake, Weight: -1}}},
		"MaxConcurrent is -1":          {Members: []router.Member{{Provider: fake, MaxConcurrent: -1}}},
		"Retries and":                  {Members: []router.Member{{Provider: fake}}, Retries: -1},
		"and FailureThreshold":         {Members: []router.Member{{Provider: fake}}, FailureThreshold: -1},
		"Backoff and":                  {Members: []router.Member{{Provider: fake}}, Backoff: -1},
		"and OpenFor":                  {Members: []router.Member{{Provider: fake}}, OpenFor: -1},
	} {
		t.Run(says, func(t *testing.T) {
			is := is.New(t)
			_, err := router.New(c)
			is.True(err != nil)
			is.True(strings.HasPrefix(err.Error(), "router: ") && strings.Contains(err.Error(), says))
		})
	}
}

func TestProbe(t *testing.T) {
	is := is.New(t)
	well, ill := member("well", works), member("ill", works)
	p := build(t, router.Config{}, well, ill)
	is.NoErr(p.Probe(t.Context()))
	ill.probe = errors.New("the key is not accepted")
	err := p.Probe(t.Context())
	is.True(errors.Is(err, ill.probe))
	is.True(strings.Contains(err.Error(), `"ill"`) && !strings.Contains(err.Error(), `"well"`))
}

// Check reports a member in doubt behind those that fail.
func TestProbeOfDoubts(t *testing.T) {
	is := is.New(t)
	well, vague := member("well", works), member("vague", works)
	p := build(t, router.Config{}, well, vague)
	vague.probe = provider.ErrUnconfirmed
	is.True(errors.Is(p.Probe(t.Context()), provider.ErrUnconfirmed))
	well.probe = errors.New("the key is not accepted")
	err := p.Probe(t.Context())
	is.True(errors.Is(err, well.probe) && !errors.Is(err, provider.ErrUnconfirmed))
}

func TestCapabilitiesAreTheMembers(t *testing.T) {
	is := is.New(t)
	a, b := member("a", works), member("b", works)
	a.can = imagegen.Capabilities{Ratios: []imagegen.Ratio{"16:9", "1:1"}, MaxReferences: 2}
	b.can = imagegen.Capabilities{Tiers: []imagegen.Tier{imagegen.Tier1K}, MaxPrompt: 100}
	want := imagegen.Capabilities{Offers: []imagegen.Capabilities{a.can, b.can}}.WithDefaults()
	is.Equal(cmp.Diff(want, build(t, router.Config{}, a, b).Capabilities()), "")
}
