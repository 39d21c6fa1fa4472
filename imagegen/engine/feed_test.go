package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// An engine has its Store keep a feed, adds up to what it charges, and removes events by their age.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, ctx, db := is.New(t), t.Context(), memory.New(nil)
		e, err := engine.New(engine.Config{Store: db, Ledger: db, Feed: true, Models: []engine.Model{{ID: "m",
			Provider: provider.NewFake(provider.FakeConfig{}), Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}}})
		is.NoErr(err)
		is.NoErr(e.Start())
		defer e.Stop(ctx)
		_, err = db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 5})
		is.NoErr(err)
		_, err = e.As("alice").Generate(ctx, imagegen.GenerateRequest{Model: "m", Prompt: "a fox", N: 2})
		is.NoErr(err)
		events, err := e.Events(ctx, 0, engine.MaxEvents)
		is.NoErr(err)
		is.Equal(len(events), 3)
		is.Equal(events[1].Kind, imagegen.FeedAccepted)
		is.Equal(events[2].Kind, imagegen.FeedSucceeded)
		is.Equal(events[1].Credits, imagegen.Credits(-2))
		for _, limit := range []int{0, engine.MaxEvents + 1} {
			_, err = e.Events(ctx, 0, limit)
			is.True(errors.Is(err, imagegen.ErrInvalidRequest))
		}
		is.True(errors.Is(e.SetNotifyBelow(ctx, "alice", 3), imagegen.ErrNotFound)) // there is no such user here
		time.Sleep(31 * 24 * time.Hour)
		events, err = e.Events(ctx, events[0].Number, 10)
		is.NoErr(err)
		is.Equal(len(events), 1)
		is.Equal(events[0].Kind, imagegen.FeedLost)
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
	is.True(errors.Is(e.SetNotifyBelow(t.Context(), "alice", 3), imagegen.ErrNotFound))
	c.Feed = true
	_, err = engine.New(c)
	is.True(err != nil)
}
