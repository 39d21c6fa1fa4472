package storagetest

import (
	"errors"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// Images that were shown stand in every later attempt, of any process, and in the outcome.
func testShown(s *store) {
	r := s.bring(1, imagegen.StateProcessing)
	r = s.update(r, show(r))
	s.is.Equal(len(r.Images), 2)
	s.isListed(r)
	r = s.update(s.update(r, imagegen.RecoverChange{}), imagegen.ReleaseChange{})
	s.is.Equal(len(r.Images), 2)
	claimed := s.claim(1)[0]
	s.is.Equal(diff(r.Images, claimed.Images), "")
	done := s.update(claimed, refused(claimed))
	s.is.Equal(done.Published, 2)
	s.is.Equal(done.Failure, nil)
	s.stands(done)
}

// Of a cancellation and a claim at the same time one wins, and the other changes nothing.
func testCancelRace(s *store) {
	const many = 20
	for n := range many {
		r := s.queue(n + 1)
		var (
			wg      sync.WaitGroup
			claimed []imagegen.Record
			errs    [2]error
		)
		wg.Go(func() { claimed, _, errs[0] = s.Claim(s.t.Context(), imagegen.ClaimRequest{Most: 1, Lease: aMinute}) })
		wg.Go(func() { _, errs[1] = s.Update(s.t.Context(), r.Fence(), cancelled(r)) })
		wg.Wait()
		s.is.NoErr(errs[0])
		now, err := s.Generation(s.t.Context(), r.ID)
		s.is.NoErr(err)
		if len(claimed) == 1 {
			s.is.True(errors.Is(errs[1], imagegen.ErrStale))
			s.is.Equal(diff(claimed[0], now), "")
			continue
		}
		s.is.NoErr(errs[1])
		s.is.Equal(now.State, imagegen.StateSettling)
		s.is.Equal(len(s.claim(1)), 0)
	}
}
