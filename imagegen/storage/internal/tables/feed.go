package tables

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/feed"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// The buckets of the feed. A move leaves them behind: the numbers of the new feed lie above these.
const (
	eventsIn kv.Bucket = "events"        // number → event
	marksOf  kv.Bucket = "events.feed"   // the two below
	placesIn kv.Bucket = "events.places" // reader → place
)

var (
	feedKept    = []byte("kept")    // → anything: events are written
	feedRemoved = []byte("removed") // → the last number that was removed
)

// Teller is a transaction of a database that keeps the feed in tables of its own.
type Teller interface {
	Happened(imagegen.FeedEvent)
	Fell(feed.Fell) // FeedLow follows, if the user has asked for it
}

var _ imagegen.FeedKeeper = (*Tables)(nil)

// KeepFeed implements [imagegen.FeedKeeper].
func (t *Tables) KeepFeed(ctx context.Context, keep bool) error {
	err := t.db.Update(ctx, func(tx kv.Tx) error {
		switch kept := tx.Get(marksOf, feedKept) != nil; {
		case keep && !kept:
			tx.Put(marksOf, feedKept, []byte{1})
		case kept && !keep:
			tx.Delete(marksOf, feedKept)
		}
		return nil
	})
	if err == nil {
		t.NoteFeed(keep)
	}
	return err
}

// NoteFeed says whether events are written, for a database that keeps the feed in tables of its own.
func (t *Tables) NoteFeed(keep bool) { t.feeds.Store(keep) }

// KeepsFeed reports whether events are written.
func (t *Tables) KeepsFeed() bool { return t.feeds.Load() }

// Tell implements [imagegen.FeedKeeper].
func (t *Tables) Tell(ctx context.Context, e imagegen.FeedEvent) error {
	if !t.KeepsFeed() {
		return nil
	}
	return t.db.Update(ctx, func(tx kv.Tx) error {
		happened(tx, feed.Alone(e, t.books.Now()))
		return nil
	})
}

// happened writes an event behind the last one. A database belongs to one process, and its transactions come one after
// the other, so the number is given at once.
func happened(tx kv.Tx, e imagegen.FeedEvent) {
	if own, ok := tx.(Teller); ok {
		own.Happened(e)
		return
	}
	e.ID, e.Number = feed.NewID(), feed.Next(last(tx), e.Time)
	tx.Put(eventsIn, kv.Key(e.Number), kv.Encode(&e, codeEvent))
}

// last is the number that was given last; 0: none was.
func last(tx kv.Tx) (number uint64) {
	tx.Descend(eventsIn, nil, func(key, _ []byte) bool {
		number = binary.BigEndian.Uint64(key)
		return false
	})
	if number == 0 {
		return removedUpTo(tx)
	}
	return number
}

// tellEntry is ledger.Ledger.Wrote.
func (t *Tables) tellEntry(tx ledger.Tx, at clock.Reading, c *ledger.Change) {
	if !t.feeds.Load() {
		return
	}
	if e, some := feed.OfEntry(c, at.Now); some {
		tellIn(tx, e)
	}
	fell, lower := feed.FellBy(c, at.Now)
	if !lower {
		return
	}
	if own, ok := tx.(Teller); ok {
		own.Fell(fell)
		return
	}
	u, err := loadUser(tx.(kv.Tx), fell.User)
	if e, some := fell.Low(u.NotifyBelow); err == nil && some {
		tellIn(tx, e)
	}
}

// tellIn is happened in a transaction of the ledger.
func tellIn(tx ledger.Tx, e imagegen.FeedEvent) {
	if own, ok := tx.(Teller); ok {
		own.Happened(e)
		return
	}
	happened(tx.(kv.Tx), e)
}

// Feed implements [imagegen.FeedKeeper].
func (t *Tables) Feed(ctx context.Context, after uint64, n int) ([]imagegen.FeedEvent, error) {
	return view(ctx, t.db, func(tx kv.Tx) (all []imagegen.FeedEvent, err error) {
		if lost, some := feed.Lost(after, removedUpTo(tx), t.books.Now()); some {
			all = append(all, lost)
		}
		tx.Ascend(eventsIn, kv.Key(after+1), func(_, stored []byte) bool {
			if len(all) >= n {
				return false
			}
			var e imagegen.FeedEvent
			err = kv.Decode(stored, &e, codeEvent)
			all = append(all, e)
			return err == nil
		})
		return all, err
	})
}

func removedUpTo(tx kv.Tx) uint64 {
	stored := tx.Get(marksOf, feedRemoved)
	if stored == nil {
		return 0
	}
	return binary.BigEndian.Uint64(stored)
}

// FeedEnd implements [imagegen.FeedKeeper].
func (t *Tables) FeedEnd(ctx context.Context) (uint64, error) {
	return view(ctx, t.db, func(tx kv.Tx) (uint64, error) { return feed.End(last(tx), t.books.Now()), nil })
}

// FeedPlaces implements [imagegen.FeedKeeper].
func (t *Tables) FeedPlaces(ctx context.Context) ([]imagegen.FeedPlace, error) {
	return view(ctx, t.db, func(tx kv.Tx) (all []imagegen.FeedPlace, err error) {
		tx.Ascend(placesIn, nil, func(_, stored []byte) bool {
			var p imagegen.FeedPlace
			err = kv.Decode(stored, &p, codePlace)
			all = append(all, p)
			return err == nil
		})
		return all, err
	})
}

// SetFeedPlace implements [imagegen.FeedKeeper].
func (t *Tables) SetFeedPlace(ctx context.Context, from, to imagegen.FeedPlace) (set bool, err error) {
	err = t.db.Update(ctx, func(tx kv.Tx) (err error) {
		var kept imagegen.FeedPlace
		if stored := tx.Get(placesIn, kv.Key(to.Reader)); stored != nil {
			err = kv.Decode(stored, &kept, codePlace)
		}
		if set = err == nil && feed.SamePlace(kept, from); set {
			tx.Put(placesIn, kv.Key(to.Reader), kv.Encode(&to, codePlace))
		}
		return err
	})
	return set, err
}

func codePlace(c *kv.Coder, p *imagegen.FeedPlace) {
	c.Version(1)
	kv.Text(c, &p.Reader)
	kv.Number(c, &p.Number)
	kv.Text(c, &p.Event)
	kv.Number(c, &p.Tries)
	kv.Moment(c, &p.Since)
	kv.Moment(c, &p.At)
	kv.Number(c, &p.Status)
	kv.Text(c, &p.Answer)
}

// maxTidied is the most events that one transaction removes, so that it stays short.
const maxTidied = 1000

// TidyFeed implements [imagegen.FeedKeeper]. It stops at the first event that is not so old.
func (t *Tables) TidyFeed(ctx context.Context, age time.Duration) error {
	for more := true; more; {
		err := t.db.Update(ctx, func(tx kv.Tx) error {
			aged, err := t.agedEvents(tx, age)
			if more = len(aged) == maxTidied; err != nil || len(aged) == 0 {
				return err
			}
			for _, number := range aged {
				tx.Delete(eventsIn, kv.Key(number))
			}
			tx.Put(marksOf, feedRemoved, kv.Key(aged[len(aged)-1]))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// agedEvents are the numbers of the oldest events, up to the first that is younger than age.
func (t *Tables) agedEvents(tx kv.Tx, age time.Duration) (aged []uint64, err error) {
	tx.Ascend(eventsIn, nil, func(_, stored []byte) bool {
		var e imagegen.FeedEvent
		if err = kv.Decode(stored, &e, codeEvent); err != nil || t.books.Age(e.Time) < age || len(aged) == maxTidied {
			return false
		}
		aged = append(aged, e.Number)
		return true
	})
	return aged, err
}

// SetNotifyBelow implements [imagegen.FeedKeeper].
func (t *Tables) SetNotifyBelow(ctx context.Context, id imagegen.UserID, below imagegen.Credits) error {
	if err := rules.NotifyBelow(below); err != nil {
		return err
	}
	return t.changeUser(ctx, account.ActUserSet, id, func(_ kv.Tx, u *imagegen.User) error {
		u.NotifyBelow = below
		return nil
	})
}

func codeEvent(c *kv.Coder, e *imagegen.FeedEvent) {
	c.Version(1)
	kv.Number(c, &e.Number)
	kv.Text(c, &e.ID)
	kv.Text(c, &e.Kind)
	kv.Moment(c, &e.Time)
	kv.Text(c, &e.User)
	kv.Text(c, &e.Payer)
	kv.Text(c, &e.Generation)
	kv.Text(c, &e.Key)
	kv.Text(c, &e.Model)
	kv.Number(c, &e.Images)
	kv.Number(c, &e.Credits)
	kv.Number(c, &e.Balance)
	kv.Number(c, &e.Below)
	kv.Text(c, &e.Ref)
	kv.Text(c, &e.Reason)
	kv.Flag(c, &e.Disputed)
	kv.Number(c, &e.Limit)
	kv.Text(c, &e.Period)
	kv.Number(c, &e.Cost)
	kv.Number(c, &e.Above)
}
