package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Work that waited longer than MaxAge, as over a long outage, is not begun: it fails and is refunded.
func TestNoAttemptBeginsBeyondMaxAge(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			is, calls := is.New(t), 0
			p := &scripted{caps: anything,
				do: func(ctx context.Context, _ imagegen.ProviderRequest, _ func(imagegen.ProviderImage, error) bool) {
					calls++
					<-ctx.Done()
				}}
			h := start(t, p, option, func(c *engine.Config) { c.Limits.Concurrency, c.Attempts.MaxAge = 1, time.Hour })
			var ids []imagegen.GenerationID
			for range 2 {
				r, err := h.generate(imagegen.GenerateRequest{Async: true})
				is.NoErr(err)
				ids = append(ids, r.ID)
			}
			synctest.Wait()
			now, cancel := context.WithCancel(t.Context())
			cancel()
			is.NoErr(h.engine.Stop(now))
			is.Equal(calls, 1)
			time.Sleep(time.Hour)
			h.restart()
			for _, id := range ids { // drained, and never begun
				is.Equal(h.ended(id).Status, imagegen.StatusFailed)
			}
			is.Equal(calls, 1)
			is.Equal(h.balance(), imagegen.Credits(100))
			h.audit()
		})
	})
}
