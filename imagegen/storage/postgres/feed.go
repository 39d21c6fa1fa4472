package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/feed"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// The feed. A transaction inserts its events without numbers, since numbers that are given before the commit would
// appear behind a place that a reader has passed, or have to wait for each other. Each reader first gives numbers to
// what is committed and has none, under a lock, in a transaction that waits for nothing else.

var inEvents = newKind("events", 1, `event text, kind text, at timestamptz, usr text, payer text, generation text,
 api_key text, model text, images bigint, credits bigint, balance bigint, below bigint, ref text, reason text,
 disputed boolean, bound bigint, period text, cost bigint, above bigint`, func(e *imagegen.FeedEvent) []any {
	return []any{&e.ID, &e.Kind, at(&e.Time), &e.User, orNull(&e.Payer), orNull(&e.Generation), orNull(&e.Key),
		orNull(&e.Model), &e.Images, &e.Credits, &e.Balance, &e.Below, orNull(&e.Ref), orNull(&e.Reason), &e.Disputed,
		&e.Limit, orNull(&e.Period), &e.Cost, &e.Above}
})

var inPlaces = newKind("feed_places", 1, `reader text, number bigint, event text, tries bigint, since timestamptz,
 at timestamptz, status bigint, answer text`, func(p *imagegen.FeedPlace) []any {
	return []any{&p.Reader, &p.Number, orNull(&p.Event), &p.Tries, at(&p.Since), at(&p.At), &p.Status,
		orNull(&p.Answer)}
})

var _ tables.Teller = (*session)(nil)

// KeepFeed implements [imagegen.FeedKeeper].
func (db *DB) KeepFeed(ctx context.Context, keep bool) error {
	err := db.inFeed(ctx, func(s *session) error {
		s.exec(`update imagegend.feed set kept = $1 where kept <> $1`, keep)
		return nil
	})
	if err == nil {
		db.tables.NoteFeed(keep)
	}
	return err
}

// readFeed looks whether events are written.
func (db *DB) readFeed(ctx context.Context) error {
	var kept bool
	err := db.row(ctx, []any{&kept}, `select kept from imagegend.feed`)
	if err == nil {
		db.tables.NoteFeed(kept)
	}
	return err
}

// Happened implements tables.Teller.
func (s *session) Happened(e imagegen.FeedEvent) {
	e.ID = feed.NewID()
	s.events = append(s.events, &e)
	s.changes++
}

// Fell implements tables.Teller. Until it is written, Below is the balance before, see insertSome.
func (s *session) Fell(f feed.Fell) {
	s.Happened(imagegen.FeedEvent{Kind: imagegen.FeedLow, Time: f.At, User: f.User, Balance: f.To, Below: f.From})
}

// tellRow tells of a row that to takes the place of from.
func (s *session) tellRow(from, to tables.Row) {
	if e, some := feed.OfRecord(from.Record, to.Record, s.at.Now); some && s.db.tables.KeepsFeed() {
		s.Happened(e)
	}
}

// flushFeed writes events, in their order.
func (s *session) flushFeed(b *pgx.Batch) { inEvents.queue(b, s.events, insertSome) }

// insertSome inserts events; of balances that were lowered only those whose users have asked for it. The statement
// looks that up itself, since most transactions that lower a balance have not read the user.
var insertSome = func() string {
	places := make([]string, len(inEvents.types))
	for i, t := range inEvents.types {
		places[i] = fmt.Sprintf("$%d::%s[]", i+1, t)
	}
	columns := strings.Join(inEvents.columns, ", ")
	return "insert into " + inEvents.table + " (" + columns + ") select " +
		strings.Replace(inEvents.of("x"), "x.below", "coalesce(u.notify_below, x.below)", 1) +
		" from unnest(" + strings.Join(places, ", ") + ") with ordinality x(" + columns + `, nr)
 left join imagegend.users u on x.kind = 'credits.low' and u.id = x.usr
 where x.kind <> 'credits.low' or x.balance < u.notify_below and u.notify_below <= x.below order by x.nr`
}()

// Feed implements [imagegen.FeedKeeper].
func (db *DB) Feed(ctx context.Context, after uint64, n int) (all []imagegen.FeedEvent, err error) {
	if err := db.number(ctx); err != nil {
		return nil, err
	}
	err = db.view(ctx, func(s *session) error {
		var removed uint64
		s.scan(func() {}, []any{&removed}, `select removed from imagegend.feed`)
		if lost, some := feed.Lost(after, removed, db.books.Now()); some {
			all = append(all, lost)
		}
		var e imagegen.FeedEvent
		places := append([]any{&e.Number}, inEvents.cells(&e)...)
		s.scan(func() { all = append(all, e) }, places, `select t.number, `+inEvents.of("t")+
			` from imagegend.events t where t.number > $1 order by t.number limit $2::bigint`, int64(after), int64(n-len(all)))
		return nil
	})
	return all, err
}

// FeedEnd implements [imagegen.FeedKeeper].
func (db *DB) FeedEnd(ctx context.Context) (end uint64, err error) {
	if err := db.number(ctx); err != nil {
		return 0, err
	}
	err = db.row(ctx, []any{&end},
		`select greatest(removed, (select max(number) from imagegend.events)) from imagegend.feed`)
	return feed.End(end, db.books.Now()), err
}

// FeedPlaces implements [imagegen.FeedKeeper].
func (db *DB) FeedPlaces(ctx context.Context) (all []imagegen.FeedPlace, err error) {
	err = db.view(ctx, func(s *session) error {
		read(s, inPlaces.scan, func(p *imagegen.FeedPlace) { all = append(all, *p) }, inPlaces.from())
		return nil
	})
	return all, err
}

// SetFeedPlace implements [imagegen.FeedKeeper].
func (db *DB) SetFeedPlace(ctx context.Context, from, to imagegen.FeedPlace) (set bool, err error) {
	err = db.inFeed(ctx, func(s *session) error {
		var kept imagegen.FeedPlace
		read(s, inPlaces.scan, func(p *imagegen.FeedPlace) { kept = *p },
			inPlaces.from()+` where t.reader = $1`, to.Reader)
		if set = feed.SamePlace(kept, from); set {
			var b pgx.Batch
			inPlaces.put(&b, []*imagegen.FeedPlace{&to})
			s.must(s.send(&b))
		}
		return nil
	})
	return set, err
}

// mostNumbered is how many events one transaction numbers at most, so that it stays short.
const mostNumbered = 10_000

// number gives numbers to events that have none. They go by the order of insertion, which is that of commits for
// whatever was written under one lock.
func (db *DB) number(ctx context.Context) error {
	for more := true; more; {
		err := db.row(ctx, []any{&more}, `select exists (select from imagegend.events where number is null)`)
		if err != nil || !more {
			return err
		}
		err = db.inFeed(ctx, func(s *session) error {
			s.exec(`with fresh as (select seq, row_number() over (order by seq) as nr from
 (select seq from imagegend.events where number is null order by seq limit $2::bigint) f)
update imagegend.events e set number = greatest((select max(number) from imagegend.events),
 (select removed from imagegend.feed), $1::bigint) + fresh.nr from fresh where e.seq = fresh.seq`, s.at.Now.UnixMilli()-1, int64(mostNumbered))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// inFeed runs f in a transaction with the lock of the feed, whose statements see what those before it have committed.
func (db *DB) inFeed(ctx context.Context, f func(*session) error) error {
	return db.workAfter(ctx, func(b *pgx.Batch) { b.Queue(`select from imagegend.feed for update`) }, f)
}

// maxTidied is the most events that one transaction removes.
const maxTidied = 1000

// TidyFeed implements [imagegen.FeedKeeper]. It stops at the first event that is not so old.
func (db *DB) TidyFeed(ctx context.Context, age time.Duration) error {
	if err := db.number(ctx); err != nil {
		return err
	}
	for more := true; more; {
		cut, err := db.agedEvents(ctx, age)
		if more = len(cut) == maxTidied; err != nil || len(cut) == 0 {
			return err
		}
		last := cut[len(cut)-1]
		err = db.inFeed(ctx, func(s *session) error {
			s.exec(`delete from imagegend.events where number <= $1`, int64(last))
			s.exec(`update imagegend.feed set removed = $1 where removed < $1`, int64(last))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// agedEvents are the numbers of the oldest events, up to the first that is younger than age.
func (db *DB) agedEvents(ctx context.Context, age time.Duration) (aged []uint64, err error) {
	err = db.view(ctx, func(s *session) error {
		var number uint64
		var happened time.Time
		young := false
		s.scan(func() {
			if young = young || db.books.Age(happened) < age; !young {
				aged = append(aged, number)
			}
		}, []any{&number, &happened}, `select number, at from imagegend.events where number is not null
 order by number limit $1::bigint`, int64(maxTidied))
		return nil
	})
	return aged, err
}
