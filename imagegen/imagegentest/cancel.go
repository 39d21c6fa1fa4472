package imagegentest

import (
	"errors"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// beforeTheEnd: an image is there to be read while others are still made, and stays.
func (s *suite) beforeTheEnd() {
	id := s.generated(imagegen.GenerateRequest{Async: true, N: 2, Prompt: "[fake:each=3s] a fox"}).ID
	var g imagegen.Generation
	s.eventually(func() bool {
		var err error
		g, err = s.Alice.Generation(s.Context(), id)
		s.is.NoErr(err)
		return len(g.Images) > 0
	})
	s.is.Equal(g.Status, imagegen.StatusProcessing)
	s.is.Equal(g.Credits, imagegen.Credits(0))
	f, err := s.Alice.OpenImage(s.Context(), g.Images[0].ID)
	s.is.NoErr(err)
	s.is.NoErr(f.Close())
	done := s.ended(id)
	s.is.Equal(len(done.Images), 2)
	s.is.Equal(cmp.Diff(g.Images[0], done.Images[0]), "")
	s.hasBalance(s.Alice, 98)
}

// cancel: what waits between two attempts is ended at its owner's word alone.
func (s *suite) cancel() {
	id := s.generated(imagegen.GenerateRequest{Async: true, N: 3, Prompt: "[fake:transient=2] a fox"}).ID
	_, err := s.Bob.Cancel(s.Context(), id)
	s.fails(err, imagegen.ErrNotFound)
	var g imagegen.Generation
	s.eventually(func() bool {
		g, err = s.Alice.Cancel(s.Context(), id)
		return !errors.Is(err, imagegen.ErrNotCancellable) // an attempt was under way
	})
	s.is.NoErr(err)
	s.is.Equal(g.Status, imagegen.StatusFailed)
	s.is.Equal(s.fails(g.Failure, imagegen.ErrCancelled).Generation, id)
	s.hasBalance(s.Alice, 100)
	s.hasUsage(s.Alice, imagegen.UsageSums{Charged: 3, Refunded: 3, Generations: 1, Cancelled: 1})
	again, err := s.Alice.Cancel(s.Context(), id)
	s.is.NoErr(err)
	s.is.Equal(cmp.Diff(g, again), "")
	_, err = s.Alice.Cancel(s.Context(), s.generated(imagegen.GenerateRequest{}).ID)
	s.fails(err, imagegen.ErrNotCancellable)
	_, err = s.Alice.Cancel(s.Context(), "gen_")
	s.fails(err, imagegen.ErrNotFound)
}
