package imagegentest

import (
	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// ownership: another user's generation looks like one that does not exist.
func (s *suite) ownership() {
	hers := s.generated(imagegen.GenerateRequest{})
	_, unknown := s.Bob.Generation(s.Context(), "gen_00000000000000000000000000")
	want := s.fails(unknown, imagegen.ErrNotFound)
	for _, id := range []imagegen.GenerationID{hers.ID, "", "gen_", "..", "a/b", "%2e", "gen_\n", hers.ID + "x", "GEN" +
		hers.ID[3:]} {
		_, err := s.Bob.Generation(s.Context(), id)
		s.is.Equal(cmp.Diff(want, s.fails(err, imagegen.ErrNotFound)), "")
	}
	s.is.Equal(len(s.recorded(s.Bob)), 0)
	page, err := s.Bob.Generations(s.Context(), imagegen.Query{After: hers.ID})
	s.is.NoErr(err)
	s.is.Equal(len(page.Generations), 0)

	f, err := s.Bob.OpenImage(s.Context(), hers.Images[0].ID) // an image's identifier is the permission
	s.is.NoErr(err)
	s.is.NoErr(f.Close())
}

func (s *suite) listing() {
	var want []imagegen.Generation // newest first
	failed := map[imagegen.GenerationID]bool{}
	for i := range 7 {
		q := imagegen.GenerateRequest{}
		if i%3 == 0 {
			q.Prompt = "[fake:fail]"
		}
		got, err := s.generate(q)
		id := got.ID
		if err != nil {
			id = s.fails(err, imagegen.ErrGenerationFailed).Generation
			failed[id] = true
		}
		g, err := s.Alice.Generation(s.Context(), id)
		s.is.NoErr(err)
		want = append([]imagegen.Generation{g}, want...)
	}
	s.is.Equal(cmp.Diff(want, s.pages(imagegen.Query{})), "")
	for limit := 1; limit <= 8; limit++ {
		s.is.Equal(cmp.Diff(want, s.pages(imagegen.Query{Limit: limit})), "")
	}
	s.is.Equal(cmp.Diff(want[3:], s.pages(imagegen.Query{Limit: 2, After: want[2].ID})), "")

	var failures []imagegen.Generation
	for _, g := range want {
		if failed[g.ID] {
			failures = append(failures, g)
		}
	}
	s.is.Equal(cmp.Diff(failures, s.pages(imagegen.Query{Limit: 2, Status: imagegen.StatusFailed})), "")
	s.is.Equal(len(s.pages(imagegen.Query{Status: imagegen.StatusSucceeded})), 4)
	s.is.Equal(len(s.pages(imagegen.Query{Status: imagegen.StatusQueued})), 0)
	s.is.Equal(len(s.pages(imagegen.Query{Status: imagegen.StatusProcessing})), 0)
}

// pages follows the pages of a query to the last, none of which is empty unless all are.
func (s *suite) pages(q imagegen.Query) []imagegen.Generation {
	s.Helper()
	var all []imagegen.Generation
	for {
		p, err := s.Alice.Generations(s.Context(), q)
		s.is.NoErr(err)
		all = append(all, p.Generations...)
		if q.Limit > 0 {
			s.is.True(len(p.Generations) <= q.Limit)
		}
		if p.Next == "" {
			return all
		}
		s.is.True(len(p.Generations) > 0)
		q.After = p.Next
	}
}

func (s *suite) invalidQueries() {
	for _, q := range []imagegen.Query{
		{Limit: -1}, {Limit: imagegen.MaxPageSize + 1}, {After: "gen_1"}, {After: "a b&c"}, {Status: "done"},
		{Status: "Queued"},
	} {
		_, err := s.Alice.Generations(s.Context(), q)
		s.fails(err, imagegen.ErrInvalidRequest)
	}
	_, err := s.Alice.Generations(s.Context(), imagegen.Query{Limit: imagegen.MaxPageSize})
	s.is.NoErr(err)
}
