package engine_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// takesTurns is a store that several engines share, each of which has a turn if mine says so.
type takesTurns struct {
	imagegen.Store
	asked *atomic.Int64
	mine  func() bool
}

var _ imagegen.TurnTaker = takesTurns{}

func (s takesTurns) Turn(_ context.Context, duty string, every time.Duration) (bool, error) {
	s.asked.Add(1)
	return duty == "retention" && every < time.Minute && s.mine(), nil
}

// The engine whose turn it is removes what reaches its age.
func TestRetentionTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		var mine atomic.Bool
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Images, c.Spool, c.Retention.Generations = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool),
				24*time.Hour
			c.Store = takesTurns{c.Store, &asked, mine.Load}
		})
		result, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		state := func() imagegen.State {
			r, err := h.db.Generation(t.Context(), result.Generation.ID)
			h.is.NoErr(err)
			return r.State
		}
		time.Sleep(25 * time.Hour)
		h.is.True(asked.Load() > 0)
		h.is.Equal(state(), imagegen.StateSucceeded) // another engine has the turn
		mine.Store(true)
		time.Sleep(2 * time.Minute)
		h.is.Equal(state(), imagegen.StateErased)
		h.audit()
	})
}

// slowImages is an image store that takes its time for each removal.
type slowImages struct {
	imagegen.ImageStore
	takes time.Duration
}

func (s slowImages) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	time.Sleep(s.takes)
	return s.ImageStore.RemoveImages(ctx, g, attempt, keep...)
}

// An engine that cannot remove everything in its turn asks for another before it goes on.
func TestLongRetentionAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, taken atomic.Int64
		var log logbook
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Log = slog.New(slog.NewTextHandler(&log, nil))
			c.Images, c.Spool, c.Retention.Generations = slowImages{c.Store.(imagegen.ImageStore), 7 * time.Second},
				c.Store.(imagegen.Spool), 24*time.Hour
			c.Store = takesTurns{c.Store, &asked, func() bool { return taken.Add(1) <= 2 }}
		})
		for range 20 {
			_, err := h.generate(imagegen.GenerateRequest{})
			h.is.NoErr(err)
		}
		left := func() int { return len(h.history()) }
		h.is.Equal(left(), 20)
		taken.Store(2) // others have it at first
		time.Sleep(25 * time.Hour)
		h.is.Equal(left(), 20)
		taken.Store(0) // two turns of half a minute, and no third
		time.Sleep(5 * time.Minute)
		h.is.Equal(left(), 10)
		h.is.Equal(log.String(), "")
		h.audit()
	})
}

// late is a store whose list of what has ended is out of date: another engine has erased all of it meanwhile.
type late struct {
	imagegen.Store
	other func(imagegen.GenerationID)
}

func (s late) Ended(ctx context.Context, age time.Duration, n int) ([]imagegen.Record, error) {
	all, err := s.Store.Ended(ctx, age, n)
	for _, r := range all {
		s.other(r.ID)
	}
	return all, err
}

// A generation that another engine has erased meanwhile is done, without a warning.
func TestRetentionThatComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logbook
		var other *engine.Engine
		h := start(t, yieldImages(1, nil)) // which erases nothing by age
		other = h.engine
		h.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		h.cfg.Images, h.cfg.Spool, h.cfg.Retention.Generations = h.db, h.db, 24*time.Hour
		var erased atomic.Int32
		h.cfg.Store = late{h.db, func(id imagegen.GenerationID) {
			h.is.NoErr(other.Erase(t.Context(), id))
			erased.Add(1)
		}}
		h.restart()
		for range 3 {
			_, err := h.generate(imagegen.GenerateRequest{})
			h.is.NoErr(err)
		}
		time.Sleep(25 * time.Hour)
		synctest.Wait()
		h.is.Equal(erased.Load(), int32(3))
		h.is.Equal(log.String(), "")
		h.audit()
	})
}
