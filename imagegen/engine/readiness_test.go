package engine_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// A clock that leaps is a warning: work goes on, no idempotency key is freed and nothing that waits is
// too old. Each change is logged once.
func TestLeapOfTheClock(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		for _, leap := range []time.Duration{25 * time.Hour, -25 * time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				var ahead time.Duration
				log := &logbook{}
				h := start(t, yieldImages(1, nil), func(c *engine.Config) {
					db := memory.New(&memory.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
					if _, err := db.Grant(t.Context(), imagegen.Grant{User: alice, Credits: 100}); err != nil {
						t.Fatal(err)
					}
					c.Store, c.Ledger, c.Images, c.Spool, c.Log = db, db, db, db,
						slog.New(slog.NewTextHandler(log, nil))
					option(c)
				})
				q := imagegen.GenerateRequest{IdempotencyKey: "k"}
				first, err := h.generate(q)
				h.is.NoErr(err)
				ahead = leap
				again, err := h.generate(q)
				h.is.NoErr(err)
				h.is.True(again.Replayed && again.ID == first.ID)
				g, err := h.generate(imagegen.GenerateRequest{Async: true})
				h.is.NoErr(err)
				h.is.Equal(h.ended(g.ID).Status, imagegen.StatusSucceeded)

				r := h.engine.Readiness(t.Context())
				h.is.True(r.Ready())
				h.is.Equal(len(r.Warnings), 1)
				h.is.Equal(r.Warnings[0].Code, "clock")
				h.is.NoErr(h.engine.Ready(t.Context()))
				time.Sleep(10 * time.Minute)
				h.is.Equal(strings.Count(log.String(), "readiness: warning: clock"), 1)
				h.is.NoErr(h.engine.ConfirmClock(t.Context()))
				h.is.Equal(len(h.engine.Readiness(t.Context()).Warnings), 0)
				h.is.Equal(strings.Count(log.String(), "readiness: ready"), 1)
			})
		}
	})
}

// An embedder can add warnings of its own; work is taken all the same.
func TestFurtherWarnings(t *testing.T) {
	h := start(t, yieldImages(1, nil), func(c *engine.Config) {
		c.Warnings = func(context.Context) []imagegen.Notice {
			return []imagegen.Notice{{Code: "backup", Detail: "it is old"}}
		}
	})
	r := h.engine.Readiness(t.Context())
	h.is.True(r.Ready())
	h.is.Equal(r.Warnings, []imagegen.Notice{{Code: "backup", Detail: "it is old"}})
}
