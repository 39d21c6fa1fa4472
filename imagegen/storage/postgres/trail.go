package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// The trail is a chain, and each link would have to wait for the commit of the one before. So an act adds its row to
// trail_new, and waits for nobody. A moment later one process chains what is there. Who only reads sees these rows
// as if that had been done already.

var _ trail.Later = (*kept)(nil)

// Add implements trail.Later.
func (k *kept) Add(r account.TrailRow) {
	k.changes++
	k.noted = append(k.noted, &r)
	k.OnCommit(func() {
		select {
		case k.db.unchained <- struct{}{}:
		default: // upkeep knows
		}
	})
}

const (
	// chainEvery is how long a row waits at most until it is chained, if this process lives.
	chainEvery = time.Second
	// mostChained is how many rows one transaction chains.
	mostChained = 1000
)

var readNew = "select t.id, " + trailNew.of("t") + " from imagegend.trail_new t order by id limit $1"

// chainable reads the first rows that are not chained yet, in the order in which they were added.
func (s *session) chainable(most int) (ids []int64, all []account.TrailRow) {
	var id int64
	var r account.TrailRow
	places := append([]any{&id}, trailNew.cells(&r)...)
	s.scan(func() { ids, all = append(ids, id), append(all, r) }, places, readNew, most)
	return ids, all
}

// chain chains all rows that are there.
func (db *DB) chain(ctx context.Context) error {
	for n := mostChained; n == mostChained; {
		there := false
		err := db.row(ctx, []any{&there}, `select exists (select from imagegend.trail_new)`)
		if err != nil || !there {
			return err
		}
		if err := db.update(ctx, func(s *session) error {
			ids, rows := s.chainable(mostChained)
			n = len(ids)
			for _, r := range rows {
				if r.Time.After(s.at.Latest()) { // by a process that had not heard of a correction yet
					r.Time = s.at.Now
				}
				if err := trail.Chain(&s.kept, r); err != nil {
					return err
				}
			}
			s.exec(`delete from imagegend.trail_new where id = any($1)`, ids)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// Trail implements [account.TrailStore]. The rows have their numbers for good by then, so that a next page begins where
// this one ends; where nobody may write, those of the last second do not.
func (db *DB) Trail(ctx context.Context, q account.TrailQuery) (account.TrailPage, error) {
	if err := db.failures.WriteDue(ctx); err != nil {
		return account.TrailPage{}, err
	}
	_ = db.chain(ctx)
	return db.trails.Trail(ctx, q)
}

// TidyTrail implements [account.TrailStore].
func (db *DB) TidyTrail(ctx context.Context, before time.Time) error {
	if err := db.failures.WriteDue(ctx); err != nil {
		return err
	}
	if err := db.chain(ctx); err != nil {
		return err
	}
	return db.trails.TidyTrail(ctx, before)
}

// readAhead chains, in a session that only reads, what is not chained yet: in memory, where Get finds it.
func (k *kept) readAhead() {
	if k.ahead {
		return
	}
	k.ahead = true
	_, rows := k.chainable(1 << 30)
	for _, r := range rows {
		k.must(trail.Chain(k, r))
	}
}

// walkAhead is walk over the trail and what readAhead has chained: rows behind all that are stored, and the ends anew.
func (k *kept) walkAhead(b kv.Bucket, from []byte, down bool, f func(key, value []byte) bool) {
	var ahead []place
	for at := range k.written {
		if at.bucket == b && (!down && at.key >= string(from) || down && (from == nil || at.key < string(from))) {
			ahead = append(ahead, at)
		}
	}
	slices.SortFunc(ahead, func(a, b place) int { return cmp.Compare(a.key, b.key) })
	if down {
		slices.Reverse(ahead)
	}
	goesOn := true
	pass := func() {
		for _, at := range ahead {
			goesOn = goesOn && f([]byte(at.key), k.written[at])
		}
	}
	if down {
		pass()
	}
	if goesOn {
		shelves[b].walk(k, b, from, down, func(key, value []byte) bool {
			if at := (place{b, string(key)}); k.written[at] != nil {
				value = k.written[at]
				ahead = slices.DeleteFunc(ahead, func(p place) bool { return p == at })
			}
			goesOn = f(key, value)
			return goesOn
		})
	}
	if !down {
		pass()
	}
}
