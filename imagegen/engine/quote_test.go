package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// A quote is what Generate would make of the request and charge for it; it charges and keeps nothing.
func TestQuote(t *testing.T) {
	h := start(t, yieldImages(4, nil), func(c *engine.Config) {
		c.Admit = func(context.Context, engine.Admission) error {
			t.Error("a quote admitted nothing")
			return nil
		}
	})
	for name, c := range map[string]struct {
		q    imagegen.GenerateRequest
		want imagegen.Quote
	}{
		"defaults": {imagegen.GenerateRequest{}, imagegen.Quote{Ratio: "auto", Tier: "1K", Effort: "auto", N: 1,
			Price: 1, Credits: 1}},
		"quality": {imagegen.GenerateRequest{Quality: "medium", N: 3},
			imagegen.Quote{Ratio: "auto", Tier: "2K", Effort: "medium", N: 3,
				Price: 2, Credits: 6}},
		"size": {imagegen.GenerateRequest{Size: imagegen.Size{Width: 1920, Height: 1080}, Quality: "high", N: 2},
			imagegen.Quote{Ratio: "16:9", Tier: "2K", Effort: "high", N: 2, Price: 2, Credits: 4}},
		"more than there is": {imagegen.GenerateRequest{Size: imagegen.Size{Width: 4096, Height: 4096}, N: 4,
			References: make([]imagegen.Reference, 16)},
			imagegen.Quote{Ratio: "1:1", Tier: "4K", Effort: "auto", N: 4, Price: 4, Credits: 16}},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.Model, c.q.Prompt = "m", "a fox"
			got, err := h.engine.As(bob).Quote(t.Context(), c.q) // who has no credits at all
			is := is.New(t)
			is.NoErr(err)
			c.want.Model, c.want.Balance = "m", imagegen.Balance{AccountType: imagegen.DefaultAccountType}
			is.Equal(cmp.Diff(c.want, got), "")
		})
	}
	p, err := h.engine.As(bob).Generations(t.Context(), imagegen.Query{})
	h.is.NoErr(err)
	h.is.Equal(len(p.Generations), 0)
	h.audit()
}

// Quote refuses what Generate refuses before it charges, in the same words.
func TestQuoteIsRefused(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	for name, q := range map[string]imagegen.GenerateRequest{
		"unknown model":   {Model: "x", Prompt: "a fox"},
		"no prompt":       {Model: "m", Prompt: " "},
		"long prompt":     {Model: "m", Prompt: strings.Repeat("x", imagegen.MaxPromptRunes+1)},
		"many images":     {Model: "m", Prompt: "a fox", N: 5},
		"small size":      {Model: "m", Prompt: "a fox", Size: imagegen.Size{Width: 1, Height: 1}},
		"narrow size":     {Model: "m", Prompt: "a fox", Size: imagegen.Size{Width: 8192, Height: 16}},
		"unknown quality": {Model: "m", Prompt: "a fox", Quality: "best"},
		"references":      {Model: "m", Prompt: "a fox", References: make([]imagegen.Reference, 17)},
		"a bad key":       {Model: "m", Prompt: "a fox", IdempotencyKey: "two words"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := h.engine.As(alice).Quote(t.Context(), q)
			is.True(errors.Is(err, imagegen.ErrInvalidRequest))
			_, again := h.engine.As(alice).Generate(t.Context(), q)
			is.Equal(err.Error(), again.Error())
		})
	}
	_, err := h.engine.As("").Quote(t.Context(), imagegen.GenerateRequest{Model: "m", Prompt: "a fox"})
	h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
}

// A reference that is quoted for is still its owner's: neither opened nor taken over.
func TestQuoteLeavesReferences(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	u, err := h.engine.As(alice).StageReference(t.Context(), strings.NewReader(string(pngOf(20, 20))), "fox.png")
	h.is.NoErr(err)
	q := imagegen.GenerateRequest{Model: "m", Prompt: "a fox", References: []imagegen.Reference{u}}
	for range 2 {
		_, err = h.engine.As(alice).Quote(t.Context(), q)
		h.is.NoErr(err)
	}
	r, err := h.engine.As(alice).Generate(t.Context(), q)
	h.is.NoErr(err)
	h.is.Equal(r.ReferenceCount, 1)
}

// till is a ledger outside that notes what it is asked for and takes nothing.
type till struct {
	imagegen.Ledger
	asked []imagegen.Charge
}

func (t *till) Charge(_ context.Context, c imagegen.Charge) error {
	t.asked = append(t.asked, c)
	return imagegen.ChargeRefused("noted")
}

// For each request the quote is the charge, or the refusal is the same.
func TestQuoteIsTheCharge(t *testing.T) {
	var till till
	h := start(t, yieldImages(4, nil), func(c *engine.Config) {
		till.Ledger = c.Ledger
		c.Ledger = &till
		c.Models[0].Credits = map[imagegen.Tier]imagegen.Credits{"1K": 3, "2K": 7, "4K": 19}
	})
	dice := rand.New(rand.NewPCG(1, 2))
	edge := func() int { return 1 << (4 + dice.IntN(10)) }
	quoted := 0
	for range 10_000 {
		q := imagegen.GenerateRequest{Model: "m", Prompt: "a fox", N: dice.IntN(6),
			Quality: append(imagegen.Qualities(), "", "best")[dice.IntN(6)]}
		if dice.IntN(3) > 0 {
			q.Size = imagegen.Size{Width: edge() + dice.IntN(3)*edge()/4, Height: edge() + dice.IntN(3)*edge()/4}
		}
		switch dice.IntN(8) {
		case 0:
			q.Options.Format = append(imagegen.Formats(), "gif")[dice.IntN(4)]
		case 1:
			q.Options.Background = append(imagegen.Backgrounds(), "none")[dice.IntN(4)]
		case 2:
			q.Options.Format, q.Options.Compression = imagegen.FormatJPEG, new(dice.IntN(120))
		case 3:
			q.Options.Seed = new(dice.Int64N(1 << 33))
		}
		quote, refused := h.engine.As(alice).Quote(t.Context(), q)
		till.asked = nil
		_, err := h.engine.As(alice).Generate(t.Context(), q)
		switch {
		case refused != nil:
			if err == nil || refused.Error() != err.Error() || len(till.asked) > 0 {
				t.Fatalf("%+v: the quote is refused with %v, the generation with %v", q, refused, err)
			}
		case len(till.asked) != 1 || till.asked[0].Credits != quote.Credits || till.asked[0].N != quote.N ||
			till.asked[0].Tier != quote.Tier:
			t.Fatalf("%+v: the quote is %+v, the charge %+v, %v", q, quote, till.asked, err)
		default:
			quoted++
		}
	}
	h.is.True(quoted > 2000)
}

// A ledger that sums nothing up has no usage to tell.
func TestNoUsage(t *testing.T) {
	h := start(t, yieldImages(1, nil), withOutsideLedger)
	_, err := h.engine.As(alice).Usage(t.Context(), imagegen.UsageQuery{})
	h.is.True(errors.Is(err, imagegen.ErrNotFound))
	_, err = h.engine.As("").Usage(t.Context(), imagegen.UsageQuery{})
	h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
}
