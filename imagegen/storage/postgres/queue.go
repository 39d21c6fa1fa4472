package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// Claim implements [imagegen.Store]. Several processes may claim at once: what one of them holds, the others pass over.
//
// One transaction does it in steps: delayed work that is due by now joins the lines (admit); pick chooses;
// beginAttempts applies the change to the records that it can lock; users whose picked work was not begun stand in line
// again. If the transaction runs again, all of it is decided anew.
func (db *DB) Claim(ctx context.Context, d imagegen.ClaimRequest) (claimed []imagegen.Record, next time.Duration,
	err error) {
	err = db.work(ctx, func(s *session) error {
		claimed = nil
		next = s.admit()
		picked := s.pick(d)
		if len(picked) == 0 {
			return nil
		}
		var ids []imagegen.GenerationID
		for _, t := range picked {
			ids = append(ids, t.id)
		}
		if claimed, err = s.beginAttempts(ids, imagegen.ClaimChange{}, d.Lease); err == nil {
			s.keepInLine(picked, claimed)
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return claimed, next, nil
}

// ClaimAged implements [imagegen.Store].
func (db *DB) ClaimAged(ctx context.Context, age time.Duration, n int, lease time.Duration) ([]imagegen.Record, error) {
	return worked(ctx, db, func(s *session) ([]imagegen.Record, error) {
		s.admit()
		return s.beginAttempts(s.aged(age, n), imagegen.ClaimChange{}, lease)
	})
}

// aged returns up to n generations that are due and were created at least age ago, oldest first. Their users stay in
// line; if nothing else of theirs is due, a later claim takes them out.
func (s *session) aged(age time.Duration, n int) (ids []imagegen.GenerationID) {
	for _, span := range s.at.Aged(age) {
		ids = append(ids, identifiers[imagegen.GenerationID](s,
			`select id from imagegend.waiting where due is null and since > $1 and since <= $2 order by since, id limit $3`,
			span.After, span.UpTo, max(n-len(ids), 0))...)
	}
	return ids
}

// mostAdmitted is the most generations whose delay is over that one claim puts into the lines. If there are more, those
// whose delay was over first go first.
const mostAdmitted = 1000

// admit turns delayed work that is due into work that waits for its turn: due becomes NULL, and its users join the
// lines in the order of its identifiers. What another claim is admitting is passed over. It returns the time until more
// work becomes due; 0: none is known.
func (s *session) admit() (next time.Duration) {
	var in []standing
	var user, model string
	var counted bool
	s.scan(func() {
		in = append(in, standing{imagegen.UserID(user), string(model)})
		if !counted {
			s.admitted = append(s.admitted, user)
			s.changes++
		}
	}, []any{&user, &model, &counted},
		`with due as (select id, counted from imagegend.waiting where due <= $1 order by due, id limit $2 for update skip locked),
 came as (update imagegend.waiting w set due = null, counted = true from due where w.id = due.id returning w.id, w.usr, w.model, due.counted)
 select usr, model, counted from came order by id`, s.at.Now, mostAdmitted)
	var b pgx.Batch
	s.queueUp(&b, in)
	var due *time.Time
	b.Queue(`select min(due) from imagegend.waiting where due > $1`, s.at.Now).
		QueryRow(func(row pgx.Row) error { return row.Scan(&due) })
	s.must(s.send(&b))
	if due != nil {
		next = max(due.Sub(s.at.Now), 1)
	}
	return next
}

// must panics with a failure of the database, which spared returns from the transaction.
func (s *session) must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// beginAttempts is tables.BeginAttempts, of records that are read and locked first. A record that another transaction
// has locked is left out, since that one is about to change it.
//
// One whose charge cannot be read or is another's is put aside: it keeps its record and its charge, and leaves the
// queue and the leases, so that it is not met again at every claim.
func (s *session) beginAttempts(ids []imagegen.GenerationID, c imagegen.Change,
	lease time.Duration) ([]imagegen.Record, error) {
	s.query(s.scanRows, readRows+` for update skip locked`, list(ids...))
	var fences []imagegen.Fence
	for _, id := range ids {
		if g := s.rows[id]; g != nil {
			fences = append(fences, g.Fence())
		}
	}
	return tables.BeginAttempts(asked{s}, fences, c, lease, s.putAside)
}

// putAside takes a generation out of the queue and the leases, and logs it once that is durable.
func (s *session) putAside(id imagegen.GenerationID, why error) {
	s.changes++
	s.aside = append(s.aside, string(id))
	s.exec(`delete from imagegend.leases where id = $1`, string(id))
	s.OnCommit(func() {
		s.db.log.Error("a generation whose charge does not fit it was put aside; its charge stays as it is", "error", fmt.Sprint(why))
	})
}

// Recover implements [imagegen.Store]. The lease is locked before the record, and a lease that another process is
// recovering or extending is passed over. So no two processes recover one record, and one that extends in time keeps
// it.
func (db *DB) Recover(ctx context.Context, n int, lease time.Duration) ([]imagegen.Record, error) {
	return worked(ctx, db, func(s *session) ([]imagegen.Record, error) {
		over := identifiers[imagegen.GenerationID](s,
			`select id from imagegend.leases where until <= $1 order by until, id limit $2 for update skip locked`,
			s.at.Now, max(n, 0))
		if len(over) == 0 {
			return nil, nil
		}
		return s.beginAttempts(over, imagegen.RecoverChange{}, lease)
	})
}

// Extend implements [imagegen.Store]. It takes one statement, which locks the leases in the order of their identifiers.
// A lease with another attempt counts as lost, as does one that is gone; one that is over and not yet recovered is
// prolonged.
func (db *DB) Extend(ctx context.Context, lease time.Duration, fences ...imagegen.Fence) ([]imagegen.Fence, error) {
	var ids []string
	var attempts []int64
	for _, f := range fences {
		ids, attempts = append(ids, string(f.ID)), append(attempts, int64(f.Attempt))
	}
	return worked(ctx, db, func(s *session) (lost []imagegen.Fence, err error) {
		held := make(map[imagegen.Fence]bool)
		var id string
		var attempt int
		s.scan(func() { held[imagegen.Fence{ID: imagegen.GenerationID(id), Attempt: attempt}] = true },
			[]any{&id, &attempt},
			`with own as (select l.id from imagegend.leases l join unnest($1::text[], $2::bigint[]) x(id, attempt) on l.id = x.id and l.attempt = x.attempt order by l.id for update of l)
 update imagegend.leases l set until = $3 from own where l.id = own.id returning l.id, l.attempt`, ids, attempts,
			s.at.Now.Add(lease))
		for _, f := range fences {
			if !held[f] {
				lost = append(lost, f)
			}
		}
		return lost, nil
	})
}

// Queued implements [imagegen.Store]. It counts what is not due yet, too; the lengths are kept
// (flushQueue), but for what has come in transactions of the host's and was met by no claim yet.
func (db *DB) Queued(ctx context.Context, u imagegen.UserID) (n imagegen.QueueLength, err error) {
	err = db.row(ctx, []any{&n.All, &n.Own}, queueLengths, string(u))
	return n, err
}

const queueLengths = `select coalesce(sum(n) filter (where usr = ''), 0)::bigint, coalesce(sum(n) filter (where usr <> ''), 0)::bigint
 from (select usr, n from imagegend.queue_lengths where usr in ('', $1) union all
 select case when other = 0 then usr else '' end, 1 from imagegend.waiting, generate_series(0, 1) other
 where not counted and (usr = $1 or other = 1)) x`

// Wake implements [imagegen.Store]. Work that another process brings wakes nobody here by itself; it is found within
// Config.Poll.
func (db *DB) Wake() <-chan struct{} { return db.wake.channel() }
