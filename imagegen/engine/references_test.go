package engine_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// unkept is a spool that can make nothing durable.
type unkept struct{ imagegen.Spool }

func (unkept) Keep(context.Context, ...imagegen.ReferenceID) error { return imagegen.ErrNotApplied }

// Reference images that cannot be made durable are found out before anything is charged or written.
func TestReferencesAreKeptBeforeTheCharge(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, yieldImages(1, nil), option, func(c *engine.Config) {
				c.Images, c.Spool = c.Store.(imagegen.ImageStore), unkept{c.Store.(imagegen.Spool)}
			})
			_, err := h.generate(imagegen.GenerateRequest{Async: true,
				References: []imagegen.Reference{bytesReference(pngOf(30, 30))}})
			h.is.True(err != nil)
			entries, err := h.db.History(t.Context(), alice, 0, 10)
			h.is.NoErr(err)
			h.is.Equal(len(entries), 1) // the grant
			records, _, err := h.db.Generations(t.Context(), alice, imagegen.Query{})
			h.is.NoErr(err)
			h.is.Equal(len(records), 0)
			h.is.Equal(len(h.db.References()), 0)
		})
	})
}

// nor an attempt that it fails.
func TestRecoveryRemovesReferences(t *testing.T) {
	for name, test := range map[string]struct {
		fail []string // as long as the database is down
		want imagegen.State
	}{
		"settlement": {[]string{"Settle"}, imagegen.StateSucceeded},
		"charge":     {[]string{"Charge", "Settle"}, imagegen.StateGone},
		"outcome":    {[]string{"Outcome"}, imagegen.StateFailed},
	} {
		for kind, async := range map[string]bool{"synchronous": false, "asynchronous": true} {
			if name == "outcome" && async {
				continue // it is tried again, and then its own attempt removes them
			}
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var up atomic.Bool
					f := startFaulty(t, yieldImages(1, nil))
					f.failBefore(func(call string, _ int, _ imagegen.Fence) error {
						if !up.Load() && slices.Contains(test.fail, call) {
							return errDoubt
						}
						return nil
					})
					_, err := f.generate(imagegen.GenerateRequest{Async: async,
						References: []imagegen.Reference{bytesReference(pngOf(30, 30))}})
					f.is.True(async || err != nil)
					time.Sleep(time.Minute)
					f.is.Equal(len(f.db.References()), 1) // recovery may yet need it
					up.Store(true)
					for open := true; open; time.Sleep(10 * time.Millisecond) {
						left, _, err := f.db.Unsettled(t.Context(), "", 10)
						f.is.NoErr(err)
						open = len(left) > 0
					}
					synctest.Wait()
					f.is.Equal(len(f.db.References()), 0) // at once, not at the next upkeep
					got := imagegen.StateGone
					for _, r := range f.all() {
						got = r.State
					}
					f.is.Equal(got, test.want)
				})
			})
		}
	}
}

// A cancelled generation leaves no reference image behind.
func TestCancelRemovesReferences(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, busy(), option, func(c *engine.Config) { c.Limits.Concurrency = 1 })
			h.queued(imagegen.GenerateRequest{})
			synctest.Wait()
			waiting := h.queued(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(pngOf(30, 30)),
				bytesReference(pngOf(30, 30))}}).ID
			h.is.Equal(len(h.db.References()), 2)
			_, err := h.engine.As(alice).Cancel(t.Context(), waiting)
			h.is.NoErr(err)
			h.is.Equal(len(h.db.References()), 0)
		})
	})
}
