package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
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

// What a fast clock dated has its age once the clock is right: work becomes too old, and an idempotency key free.
func TestAgesAcrossACorrection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		ahead.Store(int64(50 * time.Hour))
		db := memory.New(&memory.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
		calls := 0
		p := &scripted{caps: anything,
			do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				if calls++; calls != 2 {
					yield(picture(1024, 1024), nil)
					return
				}
				<-ctx.Done()
			}}
		h := start(t, p, func(c *engine.Config) {
			c.Store, c.Ledger, c.Limits.Concurrency, c.Attempts.MaxAge = db, db, 1, time.Hour
		})
		_, err := db.Grant(t.Context(), imagegen.Grant{User: alice, Credits: 10})
		h.is.NoErr(err)
		keyed := imagegen.GenerateRequest{IdempotencyKey: "k"}
		_, err = h.generate(keyed)
		h.is.NoErr(err)
		_, err = h.generate(imagegen.GenerateRequest{Async: true}) // it hangs
		h.is.NoErr(err)
		synctest.Wait()
		waits, err := h.generate(imagegen.GenerateRequest{Async: true})
		h.is.NoErr(err)
		now, cancel := context.WithCancel(t.Context())
		cancel()
		h.is.NoErr(h.engine.Stop(now))

		ahead.Store(0)
		db.Now()
		h.is.NoErr(db.ConfirmClock(t.Context()))
		time.Sleep(time.Hour)
		h.restart()
		h.is.Equal(h.ended(waits.ID).Status, imagegen.StatusFailed)
		h.is.Equal(calls, 2)
		time.Sleep(imagegen.IdempotencyKeyLifetime)
		got, err := h.generate(keyed)
		h.is.NoErr(err)
		h.is.True(!got.Replayed)
	})
}
