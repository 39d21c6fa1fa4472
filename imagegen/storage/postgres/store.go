package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// The methods that write here say first what they need to read, and then hand the committer a function that decides on
// what was read. That function may run several times, so it captures nothing but its results, which it sets anew.

// Create implements [imagegen.Store]. imagegen.ErrInvalidRequest: the record names no user or no generation. An
// imagegen.Violation: it is not sound.
func (db *DB) Create(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := rules.New(r); err != nil {
		return imagegen.Record{}, err
	}
	return db.writeRow(ctx, string(r.Account()), createNeeds(r), func(s *session) (tables.Row, error) {
		return tables.Create(asked{s}, r, lease)
	})
}

// createNeeds is what the creation of a record reads: the user's account, for its lock; that there is no such record
// yet; the user and the API key that ask; and who holds the idempotency key.
func createNeeds(r imagegen.Record) need {
	payer := r.Account()
	n := need{users: []imagegen.UserID{payer}, fresh: []imagegen.GenerationID{r.ID},
		askers: []imagegen.UserID{r.User, payer}}
	if r.KeyID != "" {
		n.keys = append(n.keys, r.KeyID)
	}
	if r.IdempotencyKey != "" {
		n.holders = append(n.holders, holder{r.User, imagegen.IdempotencyHash(r.IdempotencyKey)})
	}
	return n
}

// writeRow runs f, which writes one row, in the transaction of a batch, and returns the record afterwards. With an
// error that is definite it returns the record that f did, which tells the caller why; after any other, none.
func (db *DB) writeRow(ctx context.Context, about string, n need, f func(*session) (tables.Row, error)) (
	imagegen.Record, error) {
	var r tables.Row
	err := db.batched(ctx, about, n, func(s *session) (err error) {
		r, err = f(s)
		return err
	})
	if err != nil && !imagegen.Definite(err) {
		r = tables.Row{}
	}
	return r.Record, err
}

// Update implements [imagegen.Store].
func (db *DB) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	return db.writeRow(ctx, string(f.ID), need{rows: []imagegen.GenerationID{f.ID}},
		func(s *session) (tables.Row, error) { return tables.Update(ctx, asked{s}, f, c) })
}

// Joins implements [imagegen.TxStore]: it joins this DB itself, and no wrapper around it, whose methods a joint
// commit would bypass.
func (db *DB) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(db) }

// CreateCharged implements [imagegen.TxStore].
func (db *DB) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := rules.New(r); err != nil {
		return imagegen.Record{}, err
	}
	return db.writeRow(ctx, string(r.Account()), chargeNeeds(r), func(s *session) (tables.Row, error) {
		return tables.CreateCharged(asked{s}, r, lease)
	})
}

// chargeNeeds is what the creation of a record reads that is charged in the same commit.
func chargeNeeds(r imagegen.Record) need {
	n := createNeeds(r)
	n.charges = append(n.charges, r.Charge().ID)
	n.billed = billedBy(r.Charge())
	return n
}

// FinishSettled implements [imagegen.TxStore].
func (db *DB) FinishSettled(ctx context.Context, f imagegen.Fence, o imagegen.OutcomeChange) (imagegen.Record, error) {
	n := need{rows: []imagegen.GenerationID{f.ID}, charges: []imagegen.ChargeID{imagegen.ChargeID(f.ID)}}
	return db.writeRow(ctx, string(f.ID), n, func(s *session) (tables.Row, error) {
		return tables.FinishSettled(asked{s}, f, o)
	})
}

// Generation implements [imagegen.Store].
func (db *DB) Generation(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	return db.one(ctx, fromGenerations+` where id = $1`, id)
}

// GenerationByIdempotencyKey implements [imagegen.Store]. The answer to a repeated call is the record that this finds,
// and the caller relies on it. But PostgreSQL shows a record also where the wait of its commit for a standby was
// cancelled, and a failover may take such a record back. So it locks the record, and commits: that waits for the
// standby in its turn, which cannot confirm the later commit without the one before it.
func (db *DB) GenerationByIdempotencyKey(ctx context.Context, u imagegen.UserID,
	key string) (r imagegen.Record, err error) {
	hash := imagegen.IdempotencyHash(key)
	r, err = db.one(ctx, fromGenerations+` where usr = $1 and idempotency_hash = $2 order by nth desc limit 1`, u, hash[:])
	if err != nil {
		return imagegen.Record{}, err
	}
	return worked(ctx, db, func(s *session) (imagegen.Record, error) {
		row, err := s.load(r.ID)
		return row.Record, err
	})
}

// one reads one record. imagegen.ErrNotFound.
func (db *DB) one(ctx context.Context, sql string, args ...any) (imagegen.Record, error) {
	found, err := db.records(ctx, sql, args...)
	if err != nil || len(found) == 0 {
		return imagegen.Record{}, cmp.Or(err, error(imagegen.ErrNotFound))
	}
	return found[0], nil
}

// records reads the records of a query for whole generations, outside any transaction. imagegen.ErrNotApplied: the
// database does not answer.
func (db *DB) records(ctx context.Context, sql string, args ...any) (all []imagegen.Record, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	within, cancel := db.patiently(ctx)
	defer cancel()
	rows, err := db.sql.Query(within, sql, args...)
	if err == nil {
		err = scanGenerations(rows, func(g *genRow) { all = append(all, g.lift().Record) })
		rows.Close() // the pool would miss the connection if a scan has failed
	}
	if codeOf(err) == codeNoText {
		return nil, nil
	}
	if err != nil {
		return nil, unread(ctx, err)
	}
	return all, nil
}

// row reads one row, whose columns it scans into the places, outside any transaction. imagegen.ErrNotApplied: the
// database does not answer.
func (db *DB) row(ctx context.Context, places []any, sql string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	within, cancel := db.patiently(ctx)
	defer cancel()
	if err := db.sql.QueryRow(within, sql, args...).Scan(places...); err != nil {
		return unread(ctx, err)
	}
	return nil
}

// Generations implements [imagegen.Store].
func (db *DB) Generations(ctx context.Context, u imagegen.UserID, q imagegen.Query) (page []imagegen.Record, more bool,
	err error) {
	q.Limit = max(cmp.Or(q.Limit, imagegen.DefaultPageSize), 0)
	sql, args := pageQuery(u, q)
	page, err = db.records(ctx, sql, args...)
	more = len(page) > q.Limit
	return page[:min(q.Limit, len(page))], more, err
}

// behindAll sorts behind every identifier.
const behindAll = "\U0010ffff"

// pageQuery returns the SQL for what a query selects, and one record more, which tells whether others follow. Each page
// is read from one end of an index: that of all visible records, of those of a status, or of the favourites among the
// latter. The condition for all statuses, and the order, are written as those of the indexes are, since the planner
// takes them only then.
func pageQuery(u imagegen.UserID, q imagegen.Query) (sql string, args []any) {
	before := behindAll
	if q.After != "" {
		before = string(q.After)
	}
	if q.Favourites {
		q.Status = cmp.Or(q.Status, imagegen.StatusSucceeded) // only these can be favourites
	}
	only, args := `coalesce(status, '') <> ''`, []any{u, before, q.Limit + 1}
	if q.Status != "" {
		only, args = `status = $4`, append(args, string(q.Status))
	}
	if q.Favourites {
		only += ` and favourite`
	}
	return fromGenerations + ` where usr = $1 and id collate "POSIX" < $2 and ` + only +
		` order by id collate "POSIX" desc limit $3`, args
}

// Ended implements [imagegen.Store].
func (db *DB) Ended(ctx context.Context, age time.Duration, n int) (old []imagegen.Record, err error) {
	return db.aged(ctx, `state in ('succeeded', 'failed')`, age, n)
}

// aged returns up to n records that fulfil a condition, of which there is an index, and ended at least age ago.
func (db *DB) aged(ctx context.Context, of string, age time.Duration, n int) (old []imagegen.Record, err error) {
	for _, s := range db.books.Read().Aged(age) {
		some, err := db.records(ctx, fromGenerations+` where `+of+
			` and completed_at > $1 and completed_at <= $2 order by completed_at, id limit $3`, s.After, s.UpTo,
			max(n-len(old), 0))
		if err != nil {
			return nil, err
		}
		old = append(old, some...)
	}
	return old, nil
}

// Forgettable implements [imagegen.Store].
func (db *DB) Forgettable(ctx context.Context, state imagegen.State, age time.Duration,
	n int) (fences []imagegen.Fence, err error) {
	of := `state = 'failed' and prompt is not null`
	if state == imagegen.StateErased {
		of = `state = 'erased' and idempotency_hash is not null`
	}
	old, err := db.aged(ctx, of, age, n)
	for _, r := range old {
		fences = append(fences, r.Fence())
	}
	return fences, err
}

// mostUndelivered bounds what Undelivered returns.
const mostUndelivered = 100

// Undelivered implements [imagegen.Store]. The newest are read first, and then turned round.
func (db *DB) Undelivered(ctx context.Context, u imagegen.UserID, joinKey [32]byte) ([]imagegen.Record, error) {
	found, err := db.records(ctx,
		fromGenerations+` where usr = $1 and join_key = $2 and undelivered order by id desc limit $3`, u, joinKey[:],
		mostUndelivered)
	slices.Reverse(found)
	return found, err
}

// Disputed implements [imagegen.Inspector].
func (db *DB) Disputed(ctx context.Context, after imagegen.GenerationID, n int) ([]imagegen.Record, int, error) {
	return db.oldest(ctx, `dispute is not null`, after, n)
}

// Unsettled implements [imagegen.Inspector].
func (db *DB) Unsettled(ctx context.Context, after imagegen.GenerationID, n int) ([]imagegen.Record, int, error) {
	return db.oldest(ctx, unsettled, after, n)
}

// unsettled is [imagegen.Record.Unsettled] in SQL.
const unsettled = `state in ('charging', 'queued', 'processing', 'settling')`

// oldest returns the first n records behind after that fulfil a condition, of which there is an index, and counts them
// all. The two are separate statements: the count may be of a moment before.
func (db *DB) oldest(ctx context.Context, of string, after imagegen.GenerationID,
	n int) (found []imagegen.Record, total int, err error) {
	if err := db.row(ctx, []any{&total}, `select count(*) from imagegend.generations where `+of); err != nil {
		return nil, 0, err
	}
	found, err = db.records(ctx, fromGenerations+` where `+of+` and id > $1 order by id limit $2`, after, max(n, 0))
	return found, total, err
}

// OpenCharges implements [imagegen.ChargeLister]. scanCharges keeps them in a map, so their order
// is made anew.
func (db *DB) OpenCharges(ctx context.Context, after imagegen.ChargeID, n int) (open []imagegen.Charge, err error) {
	err = db.view(ctx, func(s *session) error {
		open = nil
		s.query(s.scanCharges,
			fromCharges+` where c.open and c.id > $1 order by c.id limit $2`, after, max(n, 0))
		for id, c := range s.charges {
			open = append(open, imagegen.Charge{ID: id, User: c.User, Credits: c.Credits})
		}
		slices.SortFunc(open, func(a, b imagegen.Charge) int { return cmp.Compare(a.ID, b.ID) })
		return nil
	})
	return open, err
}
