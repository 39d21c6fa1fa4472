package imagegentest

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

func (s *suite) models() {
	got, err := s.Alice.Models(s.Context())
	s.is.NoErr(err)
	want := []imagegen.ModelInfo{{
		ID: Model, Provider: "fake", Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2, "4K": 4},
		Tiers: imagegen.Tiers(), Ratios: imagegen.Ratios(), MaxReferences: imagegen.MaxReferences,
		MaxImages: imagegen.MaxImages, MaxPrompt: imagegen.MaxPromptRunes,
		MaxReferenceBytes: imagegen.MaxReferenceBytes, Formats: imagegen.Formats(), Backgrounds: imagegen.Backgrounds(),
		Mask: true, MaxSeed: math.MaxUint32, Efforts: map[imagegen.Tier][]imagegen.Quality{
			"1K": imagegen.Qualities(), "2K": imagegen.Qualities(), "4K": imagegen.Qualities()},
	}}
	s.is.Equal(cmp.Diff(want, got), "")

	got[0].Credits["1K"], got[0].Tiers[0], got[0].Ratios[0] = 0, "", "" // what was handed out is the caller's own
	again, err := s.Bob.Models(s.Context())
	s.is.NoErr(err)
	s.is.Equal(cmp.Diff(want, again), "")
}

func (s *suite) balance() {
	got, err := s.Alice.Balance(s.Context())
	s.is.NoErr(err)
	s.is.Equal(cmp.Diff(imagegen.Balance{Credits: 100, AccountType: imagegen.DefaultAccountType}, got), "")
	s.hasBalance(s.Bob, 3)
}

func (s *suite) success() {
	prompt := "a fox, <b>&\"quoted\"</b>, \u2028 and 狐 \U0001f98a"
	got := s.generated(imagegen.GenerateRequest{Prompt: prompt, N: 2, Quality: imagegen.QualityLow})
	s.is.Equal(got.Status, imagegen.StatusSucceeded)
	s.is.Equal(got.Model, Model)
	s.is.Equal(got.Prompt, prompt)
	s.is.Equal(got.N, 2)
	s.is.Equal(got.Size, small)
	s.is.Equal(got.Quality, imagegen.QualityLow)
	s.is.Equal(got.ReferenceCount, 0)
	s.is.Equal(got.Ratio, imagegen.Ratio("4:3"))
	s.is.Equal(got.Tier, imagegen.Tier1K)
	s.is.Equal(got.Credits, imagegen.Credits(2))
	s.is.Equal(got.CreditsRequested, imagegen.Credits(2))
	s.is.True(!got.CreatedAt.IsZero() && !got.CompletedAt.Before(got.CreatedAt))
	s.is.Equal(got.Failure, nil)
	s.is.True(!got.Replayed)
	s.is.Equal(len(got.Images), 2)
	s.is.True(got.Images[0].ID != got.Images[1].ID)
	s.is.Equal(*got.Balance, imagegen.Balance{Credits: 98, AccountType: imagegen.DefaultAccountType})
	s.hasBalance(s.Alice, 98)

	stored, err := s.Alice.Generation(s.Context(), got.ID)
	s.is.NoErr(err)
	s.is.Equal(cmp.Diff(got.Generation, stored), "")
	s.is.Equal(cmp.Diff([]imagegen.Generation{stored}, s.recorded(s.Alice)), "")
}

func (s *suite) partial() {
	got := s.generated(imagegen.GenerateRequest{Prompt: "[fake:images=1] a fox", N: 3})
	s.is.Equal(got.Status, imagegen.StatusSucceeded)
	s.is.Equal(len(got.Images), 1)
	s.is.Equal(got.Credits, imagegen.Credits(1))
	s.is.Equal(got.CreditsRequested, imagegen.Credits(3))
	s.is.Equal(got.Balance.Credits, imagegen.Credits(99))
	s.hasBalance(s.Alice, 99)

	got = s.generated(imagegen.GenerateRequest{Prompt: "[fake:images=4] a fox", N: 2}) // the surplus is dropped
	s.is.Equal(len(got.Images), 2)
	s.hasBalance(s.Alice, 97)
}

func (s *suite) failures() {
	messages := map[string]bool{}
	prompts := []string{"[fake:fail]", "[fake:refuse]", "[fake:panic]", "[fake:corrupt]", "[fake:transient=1]"}
	for i, prompt := range prompts {
		_, err := s.generate(imagegen.GenerateRequest{Prompt: prompt, N: 2})
		e := s.fails(err, imagegen.ErrGenerationFailed)
		s.is.True(!e.Replayed)
		messages[e.Message] = true
		g, err := s.Alice.Generation(s.Context(), e.Generation) // it is kept
		s.is.NoErr(err)
		s.is.Equal(g.Status, imagegen.StatusFailed)
		s.is.Equal(g.Failure.Code, imagegen.CodeGenerationFailed)
		s.is.Equal(g.Failure.Message, e.Message)
		s.is.Equal(len(g.Images), 0)
		s.is.Equal(g.Credits, imagegen.Credits(0))
		s.is.Equal(g.CreditsRequested, imagegen.Credits(2))
		s.is.True(!g.CompletedAt.IsZero())
		s.is.Equal(len(s.recorded(s.Alice)), i+1)
	}
	s.is.Equal(len(messages), 3) // for moderation, for what cannot be made, and for all the rest
	s.hasBalance(s.Alice, 100)
}

// prices follow from what was asked for, so that nothing large need be drawn.
func (s *suite) prices() {
	for _, c := range []struct {
		size    imagegen.Size
		quality imagegen.Quality
		tier    imagegen.Tier
		price   imagegen.Credits
	}{
		{imagegen.Size{}, "", "1K", 1},
		{imagegen.Size{}, "auto", "1K", 1},
		{imagegen.Size{}, "low", "1K", 1},
		{imagegen.Size{}, "medium", "2K", 2},
		{imagegen.Size{}, "high", "4K", 4},
		{imagegen.Size{Width: 1024, Height: 1024}, "high", "1K", 1},
		{imagegen.Size{Width: 2048, Height: 2048}, "low", "2K", 2},
		{imagegen.Size{Width: 4096, Height: 4096}, "", "4K", 4},
	} {
		_, err := s.Alice.Generate(s.Context(), imagegen.GenerateRequest{Model: Model, Prompt: "[fake:fail]",
			Size: c.size, Quality: c.quality, N: 3})
		g, err := s.Alice.Generation(s.Context(), s.fails(err, imagegen.ErrGenerationFailed).Generation)
		s.is.NoErr(err)
		s.is.Equal(g.Tier, c.tier)
		s.is.Equal(g.CreditsRequested, 3*c.price)
	}
}

func (s *suite) insufficient() {
	for _, async := range []bool{false, true} {
		_, err := s.Bob.Generate(s.Context(), fox(imagegen.GenerateRequest{N: 4, Async: async, IdempotencyKey: "k"}))
		s.fails(err, imagegen.ErrInsufficientCredits)
		s.hasBalance(s.Bob, 3)
		s.is.Equal(len(s.recorded(s.Bob)), 0)
	}
	// nothing was kept under the key
	_, err := s.Bob.Generate(s.Context(), fox(imagegen.GenerateRequest{N: 3, IdempotencyKey: "k"}))
	s.is.NoErr(err)
	s.hasBalance(s.Bob, 0)
}

func (s *suite) invalid() {
	change := func(f func(q *imagegen.GenerateRequest)) imagegen.GenerateRequest {
		q := fox(imagegen.GenerateRequest{})
		f(&q)
		return q
	}
	requests := map[string]imagegen.GenerateRequest{
		"no model":      change(func(q *imagegen.GenerateRequest) { q.Model = "" }),
		"unknown model": change(func(q *imagegen.GenerateRequest) { q.Model = "fake-2" }),
		"no prompt":     change(func(q *imagegen.GenerateRequest) { q.Prompt = "" }),
		"blank prompt":  change(func(q *imagegen.GenerateRequest) { q.Prompt = " \n\t\u2003" }),
		"prompt too long": change(func(q *imagegen.GenerateRequest) {
			q.Prompt = strings.Repeat("狐", imagegen.MaxPromptRunes+1)
		}),
		"prompt no UTF-8":   change(func(q *imagegen.GenerateRequest) { q.Prompt = "a fo\xff" }),
		"model no UTF-8":    change(func(q *imagegen.GenerateRequest) { q.Model = "fake-\xff" }),
		"quality no UTF-8":  change(func(q *imagegen.GenerateRequest) { q.Quality = "\xff" }),
		"unknown directive": change(func(q *imagegen.GenerateRequest) { q.Prompt = "[fake:what] a fox" }),
		"size too small": change(func(q *imagegen.GenerateRequest) {
			q.Size = imagegen.Size{Width: 15, Height: 16}
		}),
		"size too large": change(func(q *imagegen.GenerateRequest) {
			q.Size = imagegen.Size{Width: 8193, Height: 8192}
		}),
		"size of one edge": change(func(q *imagegen.GenerateRequest) { q.Size.Width = 0 }),
		"size too wide": change(func(q *imagegen.GenerateRequest) {
			q.Size = imagegen.Size{Width: 304, Height: 100}
		}),
		"size too tall": change(func(q *imagegen.GenerateRequest) {
			q.Size = imagegen.Size{Width: 100, Height: 304}
		}),
		"unknown quality": change(func(q *imagegen.GenerateRequest) { q.Quality = "best" }),
		"n negative":      change(func(q *imagegen.GenerateRequest) { q.N = -1 }),
		"n too large":     change(func(q *imagegen.GenerateRequest) { q.N = 5 }),
		"idempotency key long": change(func(q *imagegen.GenerateRequest) {
			q.IdempotencyKey = strings.Repeat("k", 256)
		}),
		"idempotency key, two": change(func(q *imagegen.GenerateRequest) { q.IdempotencyKey = "a b" }),
		"idempotency key, CR":  change(func(q *imagegen.GenerateRequest) { q.IdempotencyKey = "a\r\nX: y" }),
	}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		_, err := s.Alice.Generate(s.Context(), requests[name])
		if !errors.Is(err, imagegen.ErrInvalidRequest) {
			s.Errorf("%s: got %v", name, err)
		}
	}
	s.hasBalance(s.Alice, 100)
	s.is.Equal(len(s.recorded(s.Alice)), 0)

	longest := change(func(q *imagegen.GenerateRequest) {
		q.Prompt, q.IdempotencyKey = strings.Repeat("狐", imagegen.MaxPromptRunes), strings.Repeat("~", 255)
	})
	_, err := s.Alice.Generate(s.Context(), longest)
	s.is.NoErr(err)
}

// cancelledBefore: nothing happens.
func (s *suite) cancelledBefore() {
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	_, err := s.Alice.Generate(ctx, fox(imagegen.GenerateRequest{}))
	s.is.True(err != nil)
	s.hasBalance(s.Alice, 100)
	s.is.Equal(len(s.recorded(s.Alice)), 0)
}

// hangUp: what was charged goes on without its caller.
func (s *suite) hangUp() {
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	gone := make(chan error, 1)
	go func() {
		_, err := s.Alice.Generate(ctx, fox(imagegen.GenerateRequest{Prompt: "[fake:delay=1500ms] a fox"}))
		gone <- err
	}()
	s.eventually(func() bool { return len(s.recorded(s.Alice)) == 1 })
	s.hasBalance(s.Alice, 99)
	cancel()
	s.is.True(errors.Is(<-gone, context.Canceled))
	g := s.ended(s.recorded(s.Alice)[0].ID)
	s.is.Equal(g.Status, imagegen.StatusSucceeded)
	s.is.Equal(len(g.Images), 1)
	s.hasBalance(s.Alice, 99)
}

// sum: what is gone is what the generations cost, to the unit.
func (s *suite) sum() {
	for _, q := range []imagegen.GenerateRequest{
		{N: 2}, {N: 4, Prompt: "[fake:images=3] a fox"}, {Prompt: "[fake:fail]"}, {N: 3, Async: true},
		{N: 2, Async: true, Prompt: "[fake:refuse]"}, {N: 2, Async: true, Prompt: "[fake:images=1] a fox"},
	} {
		if _, err := s.generate(q); err != nil {
			s.fails(err, imagegen.ErrGenerationFailed)
		}
	}
	var spent imagegen.Credits
	for _, g := range s.recorded(s.Alice) {
		g = s.ended(g.ID)
		s.is.Equal(g.Credits, imagegen.Credits(len(g.Images))) // price 1
		spent += g.Credits
	}
	s.is.Equal(spent, imagegen.Credits(2+3+0+3+0+1))
	s.hasBalance(s.Alice, 100-spent)
}
