package imagegentest

import (
	stdcmp "cmp"
	"image"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// Priced returns the model of [Prices].
func Priced() engine.Model {
	free := imagegen.Credits(0)
	return engine.Model{ID: Model, Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 2,
		"2K": 3,
		"4K": 6}, ReferenceCredits: 1, Prices: []imagegen.Price{
		{Quality: imagegen.QualityLow, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}},
		{Mask: true, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 7}},
		{Quality: imagegen.QualityHigh, References: 2, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 9, "2K": 11},
			ReferenceCredits: &free},
		{Quality: imagegen.QualityHigh, Credits: imagegen.EveryTier(5)},
	}}
}

// Prices checks that a price list means the same on its whole way: quote, charge, answer, balance and usage agree.
// start is as for Service, but the service offers Priced. Each test calls it once.
func Prices(t *testing.T, start func(t *testing.T) Fixture) {
	for name, test := range map[string]func(*suite){
		"charges": (*suite).pricedCharges,
		"quotes":  (*suite).pricedQuotes,
		"maximum": (*suite).maxCredits,
		"models":  (*suite).pricedModels,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			promises.Expect(t, "Prices/"+name)
			test(&suite{T: t, is: is.New(t), Fixture: start(t)})
		})
	}
}

// asked is a request with a number of references, and perhaps a mask.
func asked(quality imagegen.Quality, references int, mask bool, q imagegen.GenerateRequest) imagegen.GenerateRequest {
	q.Quality = quality
	for range references {
		q.References = append(q.References, picture(40, 30))
	}
	if mask {
		q.Mask = masking(imagegen.Size{Width: 40, Height: 30}, image.Rect(0, 0, 9, 9))
	}
	return q
}

func (s *suite) pricedCharges() {
	left := imagegen.Credits(100)
	var want imagegen.UsageSums
	for _, c := range []struct {
		quality    imagegen.Quality
		references int
		mask       bool
		q          imagegen.GenerateRequest
		price      imagegen.Credits
		images     int
	}{
		{"", 0, false, imagegen.GenerateRequest{}, 2, 1},
		{"", 0, false, imagegen.GenerateRequest{N: 2}, 2, 2},
		{"low", 0, false, imagegen.GenerateRequest{N: 2, Prompt: "[fake:images=1] a fox"}, 1, 1},
		{"low", 3, false, imagegen.GenerateRequest{}, 4, 1},
		{"medium", 2, false, imagegen.GenerateRequest{Async: true}, 4, 1},
		{"medium", 1, true, imagegen.GenerateRequest{}, 8, 1},
		{"low", 1, true, imagegen.GenerateRequest{}, 2, 1}, // the line for low comes first
		{"high", 0, false, imagegen.GenerateRequest{}, 5, 1},
		{"high", 1, false, imagegen.GenerateRequest{N: 2}, 6, 2},
		{"high", 2, false, imagegen.GenerateRequest{Async: true, N: 2, Prompt: "[fake:images=1] a fox"}, 9, 1},
	} {
		n := imagegen.Credits(max(1, c.q.N))
		quote, err := s.Alice.Quote(s.Context(), fox(asked(c.quality, c.references, c.mask, c.q)))
		s.is.NoErr(err)
		s.is.Equal(quote.Price, c.price)
		s.is.Equal(quote.Credits, n*c.price)
		done := s.ended(s.generated(asked(c.quality, c.references, c.mask, c.q)).ID)
		s.is.Equal(done.CreditsRequested, n*c.price)
		s.is.Equal(len(done.Images), c.images)
		s.is.Equal(done.Credits, imagegen.Credits(c.images)*c.price)
		left -= done.Credits
		s.hasBalance(s.Alice, left)
		want = want.Plus(imagegen.UsageSums{Charged: done.CreditsRequested, Spent: done.Credits,
			Refunded: done.CreditsRequested - done.Credits, Images: c.images, Generations: 1})
	}
	s.hasUsage(s.Alice, want)
}

// pricedQuotes has what would take long to draw.
func (s *suite) pricedQuotes() {
	large, huge := imagegen.Size{Width: 2048, Height: 2048}, imagegen.Size{Width: 4096, Height: 4096}
	for _, c := range []struct {
		size       imagegen.Size
		quality    imagegen.Quality
		references int
		mask       bool
		price      imagegen.Credits
		reference  imagegen.Credits
	}{
		{imagegen.Size{}, "", 0, false, 2, 1},
		{imagegen.Size{}, "medium", 0, false, 3, 1}, // which is 2K
		{imagegen.Size{}, "high", 0, false, 5, 1},   // which is 4K
		{large, "low", 0, false, 3, 1},
		{large, "high", 2, false, 11, 0},
		{large, "auto", 1, true, 4, 1}, // the line for masks has no 2K
		{huge, "high", 16, false, 21, 1},
		{huge, "medium", 16, true, 22, 1},
	} {
		q, err := s.Bob.Quote(s.Context(), imagegen.GenerateRequest{Model: Model, Prompt: "a fox", Size: c.size,
			Quality: c.quality, References: make([]imagegen.Reference, c.references), Mask: counted(c.mask)})
		s.is.NoErr(err)
		s.is.Equal(q.Price, c.price)
		s.is.Equal(q.ReferenceCredits, c.reference)
		s.is.Equal(q.Effort, stdcmp.Or(c.quality, imagegen.QualityAuto))
	}
	s.hasBalance(s.Bob, 3)
}

func counted(mask bool) imagegen.Reference {
	if mask {
		return imagegen.Counted{}
	}
	return nil
}

func (s *suite) maxCredits() {
	q := imagegen.GenerateRequest{N: 2, IdempotencyKey: "k", MaxCredits: 3}
	_, err := s.generate(q)
	s.is.True(strings.Contains(s.fails(err, imagegen.ErrInvalidRequest).Message, "costs 4 credits"))
	s.hasBalance(s.Alice, 100)
	s.is.Equal(len(s.recorded(s.Alice)), 0)
	quote, err := s.Alice.Quote(s.Context(), fox(q)) // which ignores it
	s.is.NoErr(err)
	s.is.Equal(quote.Credits, imagegen.Credits(4))
	q.MaxCredits = 4
	first := s.generated(q)
	// the request is the same, and new charges alone are bound
	for _, q.MaxCredits = range []imagegen.Credits{4, 1, 0} {
		again := s.generated(q)
		s.is.True(again.Replayed)
		s.is.Equal(again.ID, first.ID)
	}
	s.hasBalance(s.Alice, 96)
	q.MaxCredits = -1
	q.IdempotencyKey = ""
	_, err = s.generate(q)
	s.fails(err, imagegen.ErrInvalidRequest)
}

func (s *suite) pricedModels() {
	got, err := s.Alice.Models(s.Context())
	s.is.NoErr(err)
	want := Priced()
	s.is.Equal(cmp.Diff(map[imagegen.Tier]imagegen.Credits{"1K": 2, "2K": 3, "4K": 6}, got[0].Credits), "")
	s.is.Equal(got[0].ReferenceCredits, want.ReferenceCredits)
	s.is.Equal(cmp.Diff(append(want.Prices, imagegen.Price{Credits: want.Credits}), got[0].Prices), "")
}
