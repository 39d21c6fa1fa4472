package limiter_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/console/internal/limiter"
)

// One attempt at a time for each name and each address; others are not held up.
func TestTurns(t *testing.T) {
	for name, test := range map[string]struct {
		attempts []limiter.Attempt
		want     time.Duration // if each takes a second
	}{
		"one name": {[]limiter.Attempt{{Name: "alice", Address: home}, {Name: "alice", Address: foreign},
			{Name: "alice"}}, 3 * time.Second},
		"one address": {[]limiter.Attempt{{Name: "alice", Address: home}, {Name: "bob", Address: home}},
			2 * time.Second},
		"one browser": {[]limiter.Attempt{{Name: "alice", Address: home, Browser: "x"},
			{Name: "alice", Address: foreign, Browser: "x"}}, 2 * time.Second},
		"others": {[]limiter.Attempt{{Name: "alice", Address: home}, {Name: "bob", Address: foreign}},
			time.Second},
		"nobody's address is two": {[]limiter.Attempt{{Name: "alice"}, {Name: "bob"}}, time.Second},
		"no name is one":          {[]limiter.Attempt{{}, {}}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				turns := limiter.NewTurns()
				began := time.Now()
				var all sync.WaitGroup
				for _, a := range test.attempts {
					all.Go(func() {
						done, err := turns.Take(t.Context(), a)
						if err != nil {
							t.Error(err)
							return
						}
						time.Sleep(time.Second)
						done()
					})
				}
				all.Wait()
				is.Equal(time.Since(began), test.want)
			})
		})
	}
}

// An attempt that is cancelled while it waits blocks no other, neither at the first turn nor at the second.
func TestTurnGivenUp(t *testing.T) {
	for name, held := range map[string]limiter.Attempt{"the address": {Name: "bob", Address: home},
		"the name": {Name: "alice", Address: foreign}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				turns := limiter.NewTurns()
				done, err := turns.Take(t.Context(), held)
				is.NoErr(err)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err = turns.Take(ctx, limiter.Attempt{Name: "alice", Address: home})
				is.True(errors.Is(err, context.DeadlineExceeded))
				done()
				done, err = turns.Take(t.Context(), limiter.Attempt{Name: "alice", Address: home})
				is.NoErr(err)
				done()
			})
		})
	}
}
