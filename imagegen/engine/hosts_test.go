package engine_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// A host that drains keeps its work for as long as it takes; another beside it takes what waits, and
// nothing else. What it gives back when it waits no longer, the other makes.
func TestDrainBesideAnotherHost(t *testing.T) {
	const took = 5 * time.Minute // many leases
	for name, test := range map[string]struct {
		patience time.Duration
		calls    map[string]int // of the provider, by prompt
	}{
		"to its end":    {time.Hour, map[string]int{"now": 1, "later": 1, "queued": 1}},
		"for a minute":  {time.Minute, map[string]int{"now": 1, "later": 2, "queued": 1}},
		"not at all":    {0, map[string]int{"now": 1, "later": 2, "queued": 1}},
		"half its time": {took / 2, map[string]int{"now": 1, "later": 2, "queued": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				calls := map[string]int{}
				h := start(t, &scripted{caps: anything,
					do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
						error) bool) {
						mu.Lock()
						calls[r.Prompt]++
						mu.Unlock()
						if yield(picture(1024, 1024), nil); r.N == 1 {
							return
						}
						select {
						case <-time.After(took):
							yield(picture(1024, 1024), nil)
						case <-ctx.Done():
							yield(imagegen.ProviderImage{}, context.Cause(ctx))
						}
					}}, func(c *engine.Config) { c.Limits.Concurrency = 2 })
				draining := h.engine
				answer := make(chan error, 1)
				go func() {
					_, err := h.generate(imagegen.GenerateRequest{Prompt: "now", N: 2})
					answer <- err
				}()
				synctest.Wait()
				later := h.queued(imagegen.GenerateRequest{Prompt: "later", N: 2}).ID
				synctest.Wait()
				queued := h.queued(imagegen.GenerateRequest{Prompt: "queued"}).ID

				h.restart()
				stopped := make(chan error, 1)
				go func() {
					ctx, cancel := context.WithTimeout(context.Background(), test.patience)
					defer cancel()
					stopped <- draining.Stop(ctx)
				}()
				synctest.Wait()
				began := time.Now()
				h.is.Equal(h.ended(queued).Status, imagegen.StatusSucceeded)
				h.is.True(time.Since(began) < time.Minute)
				h.is.Equal(len(h.ended(later).Images), 2)
				h.is.NoErr(<-answer) // with what was there, at least
				h.is.NoErr(<-stopped)
				h.is.Equal(cmp.Diff(test.calls, calls), "")
				h.audit()
			})
		})
	}
}
