package imagegentest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

func (s *suite) replay() {
	q := imagegen.GenerateRequest{N: 2, IdempotencyKey: "k", References: []imagegen.Reference{picture(40, 30)}}
	first := s.generated(q)
	s.generated(imagegen.GenerateRequest{}) // changes the balance, but not what is replayed
	again := s.generated(q)
	s.is.True(!first.Replayed && again.Replayed)
	again.Replayed = false
	s.is.Equal(cmp.Diff(first, again), "")
	s.hasBalance(s.Alice, 97)

	// a key is the user's own
	_, err := s.Bob.Generate(s.Context(), fox(imagegen.GenerateRequest{N: 3, IdempotencyKey: "k"}))
	s.is.NoErr(err)
	// at zero balance
	replayed, err := s.Bob.Generate(s.Context(), fox(imagegen.GenerateRequest{N: 3, IdempotencyKey: "k"}))
	s.is.NoErr(err)
	s.is.True(replayed.Replayed)
}

func (s *suite) replayFailure() {
	q := imagegen.GenerateRequest{Prompt: "[fake:refuse]", IdempotencyKey: "k"}
	_, err := s.generate(q)
	first := s.fails(err, imagegen.ErrGenerationFailed)
	_, err = s.generate(q)
	again := *s.fails(err, imagegen.ErrGenerationFailed)
	s.is.True(!first.Replayed && again.Replayed)
	again.Replayed = false
	s.is.Equal(cmp.Diff(first, &again), "")
	s.is.Equal(len(s.recorded(s.Alice)), 1)
}

func (s *suite) replayQueued() {
	q := imagegen.GenerateRequest{Async: true, IdempotencyKey: "k"}
	first := s.generated(q)
	s.ended(first.ID)
	again := s.generated(q)
	s.is.True(again.Replayed)
	again.Replayed = false
	s.is.Equal(cmp.Diff(first, again), "") // it still says queued
	s.hasBalance(s.Alice, 99)
}

func (s *suite) keyReused() {
	q := imagegen.GenerateRequest{N: 2, IdempotencyKey: "k", References: []imagegen.Reference{picture(40, 30)}}
	s.generated(q)
	for _, change := range []func(*imagegen.GenerateRequest){
		func(q *imagegen.GenerateRequest) { q.Prompt = "a wolf" },
		func(q *imagegen.GenerateRequest) { q.N = 1 },
		func(q *imagegen.GenerateRequest) { q.Size = imagegen.Size{Width: 48, Height: 64} },
		func(q *imagegen.GenerateRequest) { q.Quality = imagegen.QualityHigh },
		func(q *imagegen.GenerateRequest) { q.Async = true },
		func(q *imagegen.GenerateRequest) { q.References = nil },
		func(q *imagegen.GenerateRequest) { q.References = []imagegen.Reference{picture(40, 31)} },
		func(q *imagegen.GenerateRequest) { q.References = append(q.References, picture(40, 30)) },
	} {
		other := q
		change(&other)
		_, err := s.generate(other)
		s.fails(err, imagegen.ErrIdempotencyKeyReused)
	}
	q.Quality = imagegen.QualityAuto // the default, said aloud
	s.is.True(s.generated(q).Replayed)
	s.hasBalance(s.Alice, 98)
}

func (s *suite) keyInUse() {
	q := imagegen.GenerateRequest{Prompt: "[fake:delay=500ms] a fox", IdempotencyKey: "k"}
	first := make(chan error, 1)
	go func() {
		_, err := s.Alice.Generate(s.Context(), fox(q))
		first <- err
	}()
	s.eventually(func() bool { return len(s.recorded(s.Alice)) == 1 })
	_, err := s.generate(imagegen.GenerateRequest{Prompt: "a wolf", IdempotencyKey: "k"})
	s.fails(err, imagegen.ErrIdempotencyKeyReused)
	s.is.True(s.generated(q).Replayed) // which waits for the first
	s.is.NoErr(<-first)
	s.hasBalance(s.Alice, 99)
}

// keyInUseByMany: more than eight calls do not wait.
func (s *suite) keyInUseByMany() {
	ctx, hangUp := context.WithCancel(s.Context())
	defer hangUp()
	q := imagegen.GenerateRequest{Prompt: "[fake:delay=5s] a fox", IdempotencyKey: "k"}
	refused := make(chan error)
	for range 10 {
		go func() {
			if _, err := s.Alice.Generate(ctx, fox(q)); ctx.Err() == nil {
				refused <- err
			}
		}()
	}
	e := s.fails(<-refused, imagegen.ErrIdempotencyKeyInUse)
	s.is.True(e.RetryAfter > 0)
}

// concurrentCallers: one charge, one answer, in whichever order they come.
func (s *suite) concurrentCallers() {
	const callers = 32
	q := fox(imagegen.GenerateRequest{Prompt: "[fake:delay=50ms] a fox", IdempotencyKey: "k"})
	results, failed := make(chan imagegen.Result, callers), make(chan error, callers)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			r, err := persistently(s.Context(), s.Alice, q)
			if err != nil {
				failed <- err
				return
			}
			results <- r
		})
	}
	all.Wait()
	s.is.Equal(len(failed), 0)
	s.is.Equal(len(results), callers)
	close(results)
	fresh := 0
	var former *imagegen.Result
	for r := range results {
		if !r.Replayed {
			fresh++
		}
		r.Replayed = true
		if former != nil {
			s.is.Equal(cmp.Diff(*former, r), "")
		}
		former = &r
	}
	s.is.Equal(fresh, 1)
	s.is.Equal(len(s.recorded(s.Alice)), 1)
	s.hasBalance(s.Alice, 99)
}

// persistently asks again while the key is in use.
func persistently(ctx context.Context, s imagegen.Service, q imagegen.GenerateRequest) (imagegen.Result, error) {
	for {
		r, err := s.Generate(ctx, q)
		if !errors.Is(err, imagegen.ErrIdempotencyKeyInUse) {
			return r, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}
