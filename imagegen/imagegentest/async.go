package imagegentest

import (
	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

func (s *suite) asynchronous() {
	got := s.generated(imagegen.GenerateRequest{Async: true, N: 2, Prompt: "[fake:images=1] a fox"})
	s.is.Equal(got.Status, imagegen.StatusQueued)
	s.is.Equal(got.Credits, imagegen.Credits(0))
	s.is.Equal(got.CreditsRequested, imagegen.Credits(2))
	s.is.Equal(len(got.Images), 0)
	s.is.True(got.Balance == nil)
	s.is.True(got.CompletedAt.IsZero())
	done := s.ended(got.ID)
	s.is.Equal(done.Status, imagegen.StatusSucceeded)
	s.is.Equal(done.Credits, imagegen.Credits(1))
	s.is.Equal(len(done.Images), 1)
	s.is.True(!done.CompletedAt.Before(done.CreatedAt))
	s.is.True(done.CreatedAt.Equal(got.CreatedAt))
	s.hasBalance(s.Alice, 99)
	again, err := s.Alice.Generation(s.Context(), got.ID)
	s.is.NoErr(err)
	s.is.Equal(cmp.Diff(done, again), "") // an end is for good
}

func (s *suite) asynchronousFailure() {
	for _, prompt := range []string{"[fake:fail]", "[fake:refuse]"} {
		got := s.generated(imagegen.GenerateRequest{Async: true, N: 4, Prompt: prompt})
		done := s.ended(got.ID)
		s.is.Equal(done.Status, imagegen.StatusFailed)
		s.is.Equal(done.Failure.Code, imagegen.CodeGenerationFailed)
		s.is.Equal(done.Failure.Generation, got.ID)
		s.is.Equal(done.Credits, imagegen.Credits(0))
		s.is.Equal(len(done.Images), 0)
		s.hasBalance(s.Alice, 100)
	}
}
