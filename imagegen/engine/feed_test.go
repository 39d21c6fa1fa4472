package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// An engine has its Store keep a feed of what it charges, and removes events by their age.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(2, nil), func(c *engine.Config) {
			c.Feed, c.Retention.Events = true, 48*time.Hour
		})
		_, err := h.generate(imagegen.GenerateRequest{N: 2})
		h.is.NoErr(err)
		events, err := h.engine.Events(t.Context(), 0, engine.MaxEvents)
		h.is.NoErr(err)
		h.is.Equal(len(events), 2)
		h.is.Equal(events[0].Kind, imagegen.FeedAccepted)
		h.is.Equal(events[0].Credits, imagegen.Credits(-2))
		h.is.Equal(events[1].Kind, imagegen.FeedSucceeded)
		for _, limit := range []int{0, engine.MaxEvents + 1} {
			_, err = h.engine.Events(t.Context(), 0, limit)
			h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
		}
		// there is no such user here
		h.is.True(errors.Is(h.engine.SetNotifyBelow(t.Context(), alice, 3), imagegen.ErrNotFound))
		time.Sleep(49 * time.Hour)
		events, err = h.engine.Events(t.Context(), events[0].Number, 10)
		h.is.NoErr(err)
		h.is.Equal(len(events), 1)
		h.is.Equal(events[0].Kind, imagegen.FeedLost)
	})
}

// A Store that keeps no feed is refused at once.
func TestEventsOfNobody(t *testing.T) {
	is, db := is.New(t), memory.New(nil)
	plain := struct{ imagegen.Store }{db}
	c := engine.Config{Store: plain, Ledger: db, Images: db, Spool: db}
	e, err := engine.New(c)
	is.NoErr(err)
	_, err = e.Events(t.Context(), 0, 1)
	is.True(errors.Is(err, imagegen.ErrNotFound))
	is.True(errors.Is(e.SetNotifyBelow(t.Context(), alice, 3), imagegen.ErrNotFound))
	c.Feed = true
	_, err = engine.New(c)
	is.True(err != nil)
}
