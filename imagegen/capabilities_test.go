package imagegen_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// specialists are one for small wide pictures and one for squares.
var specialists = imagegen.Capabilities{Offers: []imagegen.Capabilities{
	{Tiers: []imagegen.Tier{"1K", "2K"}, MaxReferences: 3, MaxImages: 1},
	{Ratios: []imagegen.Ratio{imagegen.RatioAuto, "1:1"}, MaxPrompt: 10, Verify: imagegen.VerifyStructure},
}}

func TestOffersTogether(t *testing.T) {
	is := is.New(t)
	got := specialists.WithDefaults()
	got.Offers = nil
	is.Equal(cmp.Diff(imagegen.Capabilities{Ratios: imagegen.Ratios(), Tiers: imagegen.Tiers(), MaxReferences: 3,
		MaxImages: imagegen.MaxImages, MaxPrompt: imagegen.MaxPromptRunes, Verify: imagegen.VerifyDecode,
		Metadata: imagegen.MetadataKeep}, got), "")
	able := imagegen.Capabilities{MaxReferences: 1, Formats: []imagegen.Format{"webp"}, Compression: true,
		Transparent: true, Mask: true, MaxSeed: 7, Orientation: true, Metadata: imagegen.MetadataStrip}
	both := imagegen.Capabilities{Offers: []imagegen.Capabilities{able, {MaxSeed: 9}}}.WithDefaults()
	is.Equal(both.Formats, able.Formats)
	is.Equal(both.Metadata, imagegen.MetadataStrip)
	is.Equal(both.Orientation, false)
	is.Equal(both.Compression, false) // of whose image it is nobody tells the engine
	is.True(both.Transparent && both.Mask)
	is.Equal(both.MaxSeed, int64(9))
	trusted := imagegen.Capabilities{Verify: imagegen.VerifyStructure}
	is.Equal(imagegen.Capabilities{Offers: []imagegen.Capabilities{trusted, trusted}}.WithDefaults().Verify,
		imagegen.VerifyStructure)
	is.Equal(specialists.WithDefaults(), specialists.WithDefaults().WithDefaults())
}

// A request that no single provider of several can do is refused, and the refusal says what to change.
func TestRefusesWhatNoOfferCovers(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*imagegen.ProviderRequest)
		says   []string // nil: it can be had
	}{
		"a square":  {func(*imagegen.ProviderRequest) {}, nil},
		"by tier":   {func(r *imagegen.ProviderRequest) { r.Tier = "4K" }, nil},
		"by ratio":  {func(r *imagegen.ProviderRequest) { r.Ratio = "3:1" }, nil},
		"any shape": {func(r *imagegen.ProviderRequest) { r.Ratio, r.N = imagegen.RatioAuto, 2 }, nil},
		"another tier": {func(r *imagegen.ProviderRequest) {
			r.Tier, r.References = "4K", make([]imagegen.ProviderReference, 2)
		}, []string{"in tier 1K", "in tier 2K", "reference images to 0"}},
		"fewer images": {func(r *imagegen.ProviderRequest) {
			r.N, r.References = 3, make([]imagegen.ProviderReference, 2)
		}, []string{"lower n to 1", "reference images to 0"}},
		"everything": {func(r *imagegen.ProviderRequest) {
			r.N, r.Tier, r.Prompt, r.References = 3, "4K", "a long prompt", make([]imagegen.ProviderReference, 9)
		}, []string{"ask for less"}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := imagegen.ProviderRequest{N: 1, Ratio: "1:1", Tier: "1K"}
			test.change(&r)
			err := specialists.Check(r)
			is.Equal(err == nil, test.says == nil)
			for _, part := range test.says {
				e, ok := errors.AsType[*imagegen.ProviderError](err)
				is.True(ok && e.Class == imagegen.ClassInvalid && strings.Contains(e.Message, part))
			}
		})
	}
}

func TestRefusesAlone(t *testing.T) {
	can := imagegen.Capabilities{Sizes: []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 2048, Height: 2048},
		{Width: 1280, Height: 720}},
		MinReferences: 1, MaxReferences: 2, MaxImages: 2, MaxPrompt: 5}
	for says, change := range map[string]func(*imagegen.ProviderRequest){
		"it takes from 1 to 2":         func(r *imagegen.ProviderRequest) { r.References = nil },
		"it makes up to 2":             func(r *imagegen.ProviderRequest) { r.N = 3 },
		"longer than 5 characters":     func(r *imagegen.ProviderRequest) { r.Prompt = "a foxy" },
		"tier 4K cannot be had":        func(r *imagegen.ProviderRequest) { r.Tier = "4K" },
		"ratio 2:3 cannot be had":      func(r *imagegen.ProviderRequest) { r.Ratio = "2:3" },
		"in this tier there are [1:1]": func(r *imagegen.ProviderRequest) { r.Ratio, r.Tier = "16:9", "2K" },
		"size 1400x1000 cannot be made": func(r *imagegen.ProviderRequest) {
			r.Ratio, r.Size = "16:9", imagegen.Size{Width: 1400, Height: 1000}
		},
		"": func(*imagegen.ProviderRequest) {},
	} {
		t.Run(says, func(t *testing.T) {
			is := is.New(t)
			r := imagegen.ProviderRequest{N: 1, Ratio: "1:1", Tier: "1K", Prompt: "a fox",
				References: make([]imagegen.ProviderReference, 1)}
			change(&r)
			err := can.Check(r)
			is.Equal(err == nil, says == "")
			is.True(err == nil || strings.Contains(err.Error(), says))
		})
	}
}
