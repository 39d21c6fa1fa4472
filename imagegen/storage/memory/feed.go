package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/feed"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// events are the feed. The transactions of the ledger's rows guard it.
type events struct {
	on      bool
	kept    []imagegen.FeedEvent // oldest first
	last    uint64               // the number that was given last
	removed uint64               // the last number that was removed
	places  map[string]imagegen.FeedPlace
}

// KeepFeed implements [imagegen.FeedKeeper].
func (s *store) KeepFeed(ctx context.Context, keep bool) error {
	return s.rows.Update(ctx, func(ledger.Tx) error {
		s.feed.on = keep
		return nil
	})
}

// happened adds an event once its transaction is done. Until then that may be undone.
func (s *store) happened(tx ledger.Tx, e imagegen.FeedEvent) {
	if !s.feed.on {
		return
	}
	tx.OnCommit(func() {
		e.ID, e.Number = feed.NewID(), feed.Next(s.feed.last, e.Time)
		s.feed.last = e.Number
		s.feed.kept = append(s.feed.kept, e)
	})
}

// Tell implements [imagegen.FeedKeeper].
func (s *store) Tell(ctx context.Context, e imagegen.FeedEvent) error {
	return s.rows.Update(ctx, func(tx ledger.Tx) error {
		s.happened(tx, feed.Alone(e, s.books.Now()))
		return nil
	})
}

// tellEntry is ledger.Ledger.Wrote.
func (s *store) tellEntry(tx ledger.Tx, at clock.Reading, c *ledger.Change) {
	if e, some := feed.OfEntry(c, at.Now); some {
		s.happened(tx, e)
	}
	if fell, lower := feed.FellBy(c, at.Now); lower {
		if e, some := fell.Low(s.users[fell.User].NotifyBelow); some {
			s.happened(tx, e)
		}
	}
}

// Feed implements [imagegen.FeedKeeper].
func (s *store) Feed(ctx context.Context, after uint64, n int) ([]imagegen.FeedEvent, error) {
	return read(ctx, s, func() (all []imagegen.FeedEvent, err error) {
		if lost, some := feed.Lost(after, s.feed.removed, s.books.Now()); some {
			all = append(all, lost)
		}
		for _, e := range s.feed.kept {
			if e.Number > after && len(all) < n {
				all = append(all, e)
			}
		}
		return all, nil
	})
}

// FeedEnd implements [imagegen.FeedKeeper].
func (s *store) FeedEnd(ctx context.Context) (uint64, error) {
	return read(ctx, s, func() (uint64, error) { return feed.End(s.feed.last, s.books.Now()), nil })
}

// FeedPlaces implements [imagegen.FeedKeeper].
func (s *store) FeedPlaces(ctx context.Context) ([]imagegen.FeedPlace, error) {
	return read(ctx, s, func() ([]imagegen.FeedPlace, error) { return slices.Collect(maps.Values(s.feed.places)), nil })
}

// SetFeedPlace implements [imagegen.FeedKeeper].
func (s *store) SetFeedPlace(ctx context.Context, from, to imagegen.FeedPlace) (set bool, err error) {
	err = s.rows.Update(ctx, func(ledger.Tx) error {
		if s.feed.places == nil {
			s.feed.places = make(map[string]imagegen.FeedPlace)
		}
		if set = feed.SamePlace(s.feed.places[to.Reader], from); set {
			s.feed.places[to.Reader] = to
		}
		return nil
	})
	return set, err
}

// TidyFeed implements [imagegen.FeedKeeper]. It stops at the first event that is not so old.
func (s *store) TidyFeed(ctx context.Context, age time.Duration) error {
	return s.rows.Update(ctx, func(ledger.Tx) error {
		for len(s.feed.kept) > 0 && s.books.Age(s.feed.kept[0].Time) >= age {
			s.feed.removed = s.feed.kept[0].Number
			s.feed.kept = s.feed.kept[1:]
		}
		return nil
	})
}

// SetNotifyBelow implements [imagegen.FeedKeeper].
func (s *store) SetNotifyBelow(ctx context.Context, id imagegen.UserID, below imagegen.Credits) error {
	if err := rules.NotifyBelow(below); err != nil {
		return err
	}
	return s.changeUser(ctx, account.ActUserSet, id,
		func(_ ledger.Tx, u *imagegen.User) error { u.NotifyBelow = below; return nil })
}
