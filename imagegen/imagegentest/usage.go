package imagegentest

import (
	"context"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// usage tells what was charged, refunded and spent, and its sums are those of the balance.
func (s *suite) usage() {
	paid := s.generated(imagegen.GenerateRequest{N: 4, Prompt: "[fake:images=3] a fox"})
	s.generated(imagegen.GenerateRequest{Quality: imagegen.QualityHigh})
	_, err := s.generate(imagegen.GenerateRequest{N: 2, Prompt: "[fake:fail]"})
	s.fails(err, imagegen.ErrGenerationFailed)
	var want imagegen.UsageSums
	for _, g := range s.recorded(s.Alice) {
		want = want.Plus(imagegen.UsageSums{Charged: g.CreditsRequested, Refunded: g.CreditsRequested - g.Credits,
			Spent: g.Credits, Images: len(g.Images), Generations: 1})
	}
	want.Failed = 1
	for _, by := range [][]imagegen.UsageGroup{nil, {imagegen.UsageByDay},
		{imagegen.UsageByDay, imagegen.UsageByModel, imagegen.UsageByKey}} {
		r, err := s.Alice.Usage(s.Context(), imagegen.UsageQuery{By: by})
		s.is.NoErr(err)
		s.is.Equal(cmp.Diff(by, r.By), "")
		s.is.Equal(r.To.Sub(r.From), 29*24*time.Hour)
		for _, row := range r.Rows {
			s.is.True(by == nil == row.Day.IsZero())
			s.is.True(len(by) < 3 || row.Model == paid.Model)
		}
		s.sums(r, want)
	}
	s.hasBalance(s.Alice, 100-want.Spent)
	s.hasUsage(s.Bob, imagegen.UsageSums{})
}

func (s *suite) hasUsage(of imagegen.Service, want imagegen.UsageSums) {
	s.Helper()
	r, err := of.Usage(s.Context(), imagegen.UsageQuery{})
	s.is.NoErr(err)
	s.sums(r, want)
}

func (s *suite) sums(r imagegen.UsageReport, want imagegen.UsageSums) {
	s.Helper()
	var got imagegen.UsageSums
	for _, row := range r.Rows {
		got = got.Plus(row.UsageSums)
	}
	s.is.Equal(cmp.Diff(want, got), "")
}

func (s *suite) usageDays() {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }
	r, err := s.Alice.Usage(s.Context(), imagegen.UsageQuery{From: day(2), To: day(3),
		By: []imagegen.UsageGroup{imagegen.UsageByKey}})
	s.is.NoErr(err)
	want := imagegen.UsageReport{UsageQuery: imagegen.UsageQuery{From: imagegen.UsageDay(day(2)),
		To: imagegen.UsageDay(day(3)), By: []imagegen.UsageGroup{imagegen.UsageByKey}}, Rows: []imagegen.Usage{}}
	s.is.Equal(cmp.Diff(want, r), "")
	for _, q := range []imagegen.UsageQuery{{From: day(2), To: day(1)}, {From: day(1), To: day(367)},
		{By: []imagegen.UsageGroup{"hour"}}} {
		_, err := s.Alice.Usage(s.Context(), q)
		s.fails(err, imagegen.ErrInvalidRequest)
	}
}

// quotes say what Generate then does, and change nothing.
func (s *suite) quotes() {
	for _, q := range []imagegen.GenerateRequest{
		{}, {N: 3}, {Quality: imagegen.QualityHigh, N: 2}, {Size: imagegen.Size{Width: 2048, Height: 1152}},
	} {
		q = fox(q)
		before, err := s.Alice.Balance(s.Context())
		s.is.NoErr(err)
		quote, err := s.Alice.Quote(s.Context(), q)
		s.is.NoErr(err)
		s.hasBalance(s.Alice, before.Credits)
		g := s.generated(q)
		s.is.Equal(cmp.Diff(imagegen.Quote{Model: g.Model, Ratio: g.Ratio, Tier: g.Tier, Effort: g.Effort, N: g.N,
			Price: g.CreditsRequested / imagegen.Credits(g.N), Credits: g.CreditsRequested, Balance: before}, quote),
			"")
	}
	s.is.Equal(len(s.recorded(s.Alice)), 4)

	quote, err := s.Bob.Quote(s.Context(),
		fox(imagegen.GenerateRequest{N: 4, References: make([]imagegen.Reference, 16)})) // who cannot pay
	s.is.NoErr(err)
	s.is.Equal(quote.Credits, imagegen.Credits(4))
	s.is.Equal(quote.Balance.Credits, imagegen.Credits(3))
	for _, q := range []imagegen.GenerateRequest{
		{Model: "unknown", Prompt: "a fox"}, {Model: Model, Prompt: " "}, fox(imagegen.GenerateRequest{N: 5}),
		fox(imagegen.GenerateRequest{References: make([]imagegen.Reference, 17)}),
		fox(imagegen.GenerateRequest{Size: imagegen.Size{Width: 8192, Height: 16}}),
	} {
		_, err := s.Alice.Quote(s.Context(), q)
		s.fails(err, imagegen.ErrInvalidRequest)
	}
}

// waiting ends when the generation does, well or badly; a caller who waits for another user's learns nothing.
func (s *suite) waiting() {
	for _, prompt := range []string{"[fake:delay=1s] a fox", "[fake:fail]"} {
		got := s.generated(imagegen.GenerateRequest{Async: true, Prompt: prompt})
		_, err := s.Bob.Await(s.Context(), got.ID, time.Minute)
		s.fails(err, imagegen.ErrNotFound)
		s.eventually(func() bool {
			done, err := s.Alice.Await(s.Context(), got.ID, time.Minute)
			s.is.NoErr(err)
			return done.Status.Terminal()
		})
		again, err := s.Alice.Await(s.Context(), got.ID, time.Minute) // of what has ended
		s.is.NoErr(err)
		s.is.True(again.Status.Terminal())
	}
	_, err := s.Alice.Await(s.Context(), "gen_00000000000000000000000000", time.Minute)
	s.fails(err, imagegen.ErrNotFound)
}

// waitingInVain ends when the time has passed, or the caller's patience.
func (s *suite) waitingInVain() {
	got := s.generated(imagegen.GenerateRequest{Async: true, Prompt: "[fake:hang]"})
	for _, most := range []time.Duration{-time.Second, 0, time.Second} {
		g, err := s.Alice.Await(s.Context(), got.ID, most)
		s.is.NoErr(err)
		s.is.Equal(g.ID, got.ID)
		s.is.True(!g.Status.Terminal())
	}
	ctx, cancel := context.WithTimeout(s.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := s.Alice.Await(ctx, got.ID, time.Minute)
	s.is.Equal(err, ctx.Err())
}
