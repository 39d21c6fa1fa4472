package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// eventsOf returns the events of a kind.
func (h *harness) eventsOf(kind imagegen.FeedKind) (all []imagegen.FeedEvent) {
	h.Helper()
	events, err := h.engine.Events(h.Context(), 0, engine.MaxEvents)
	h.is.NoErr(err)
	for _, e := range events {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	return all
}

// only compares events with what is wanted.
func (h *harness) only(got []imagegen.FeedEvent, want ...imagegen.FeedEvent) {
	h.Helper()
	h.is.Equal(cmp.Diff(want, got, cmpopts.IgnoreFields(imagegen.FeedEvent{}, "Number", "ID", "Time")), "")
}

// noon lets time pass until noon, so that a test knows when the day ends.
func noon() {
	time.Sleep(time.Until(imagegen.UsageDay(time.Now()).Add(36 * time.Hour)))
}

func day() string { return time.Now().UTC().Format(time.DateOnly) }

// A limit that refuses charges has one event in each of its periods, from however many engines, and a changed one has
// another.
func TestLimitHasOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Feed = true })
		noon()
		raw, k, err := h.engine.Accounts().MintLimitedKey(t.Context(), alice, "ci", time.Time{},
			imagegen.KeyLimits{Daily: 1})
		h.is.NoErr(err)
		engines := []*engine.Engine{h.engine}
		h.restart()
		engines = append(engines, h.engine)
		refuse := func() {
			t.Helper()
			for _, e := range engines {
				s, err := e.Authenticate(t.Context(), raw.Reveal())
				h.is.NoErr(err)
				_, err = s.Generate(t.Context(), fox(imagegen.GenerateRequest{N: 2}))
				h.is.True(isCode(err, imagegen.ErrInsufficientCredits))
			}
		}
		limit := func(l imagegen.KeyLimits) {
			t.Helper()
			_, err = h.engine.Accounts().SetKeyLimits(t.Context(), k.ID, l)
			h.is.NoErr(err)
		}
		reached := func(limit imagegen.Credits, period string) imagegen.FeedEvent {
			return imagegen.FeedEvent{Kind: imagegen.FeedLimit, User: alice, Key: k.ID, Limit: limit, Period: period}
		}
		var want []imagegen.FeedEvent
		for range 2 {
			for range 2 {
				refuse()
				time.Sleep(3 * time.Minute)
			}
			want = append(want, reached(1, day()))
			h.only(h.eventsOf(imagegen.FeedLimit), want...)
			time.Sleep(24 * time.Hour)
		}
		limit(imagegen.KeyLimits{Credits: 1})
		for range 2 {
			refuse()
			time.Sleep(24 * time.Hour)
		}
		want = append(want, reached(1, ""))
		h.only(h.eventsOf(imagegen.FeedLimit), want...)
		limit(imagegen.KeyLimits{Monthly: 1})
		refuse()
		want = append(want, reached(1, day()[:len("2006-01")]))
		for _, e := range engines {
			h.is.NoErr(e.Stop(t.Context())) // which loses nothing
		}
		h.only(h.eventsOf(imagegen.FeedLimit), want...)
	})
}

// The limit of a member names the member and who pays. Without a feed nothing is noted.
func TestLimitOfAMemberHasAnEvent(t *testing.T) {
	for _, feed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var marks atomic.Int32
			h := start(t, yieldImages(1, nil), func(c *engine.Config) {
				c.Feed, c.Store = feed, countsMarks{c.Store.(*memory.DB), &marks}
			})
			school, zoe := h.sponsored(imagegen.KeyLimits{Credits: 3})
			_, err := h.engine.As(zoe.ID).Generate(t.Context(), fox(imagegen.GenerateRequest{N: 4}))
			h.is.True(isCode(err, imagegen.ErrInsufficientCredits))
			time.Sleep(2 * time.Minute)
			if feed {
				h.only(h.eventsOf(imagegen.FeedLimit), imagegen.FeedEvent{Kind: imagegen.FeedLimit, User: zoe.ID,
					Payer: school.ID, Limit: 3})
			}
			h.is.Equal(marks.Load() > 0, feed)
		})
	}
}

// countsMarks counts the marks of a store.
type countsMarks struct {
	*memory.DB
	marks *atomic.Int32
}

func (s countsMarks) Mark(ctx context.Context, now time.Time, keys [][32]byte, change func([]time.Time) bool) error {
	s.marks.Add(1)
	return s.DB.Mark(ctx, now, keys, change)
}

// A day that costs more than the line has one event, as soon as it does, from however many engines.
func TestCostHasOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Feed, c.NotifyCostAbove = true, 100_000
			c.Models[0].Cost = engine.Cost{Image: map[imagegen.Tier]imagegen.Micros{"1K": 50_000}}
		})
		noon()
		h.restart() // a second engine
		var want []imagegen.FeedEvent
		for range 2 {
			for n := range 4 {
				_, err := h.generate(imagegen.GenerateRequest{})
				h.is.NoErr(err)
				time.Sleep(3 * time.Minute)
				if n == 2 {
					want = append(want, imagegen.FeedEvent{Kind: imagegen.FeedCost, Period: day(), Cost: 150_000,
						Above: 100_000})
				}
				h.only(h.eventsOf(imagegen.FeedCost), want...)
			}
			time.Sleep(24 * time.Hour)
		}
	})
}

// The line needs a feed to tell in.
func TestCostLineNeedsAFeed(t *testing.T) {
	is, db := is.New(t), memory.New(nil)
	for _, c := range []engine.Config{{NotifyCostAbove: 1}, {Feed: true, NotifyCostAbove: -1}} {
		c.Store, c.Ledger = db, db
		_, err := engine.New(c)
		is.True(err != nil && strings.Contains(err.Error(), "NotifyCostAbove"))
	}
}
