package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// End is a database that is one end of a move, see package transfer.
type End struct{ db *DB }

var _ transfer.Database = (*End)(nil)

// OpenEnd connects to a database to move everything out of it, or into it. Whoever opens closes. Errors are those of
// Open; a database that was moved is opened all the same.
func OpenEnd(ctx context.Context, c Config) (*End, error) {
	db, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	return &End{db}, nil
}

// Close ends the connections.
func (e *End) Close() error {
	e.db.pool.Close()
	return nil
}

// Audit implements [imagegen.Inspector].
func (e *End) Audit(ctx context.Context) (imagegen.AuditReport, error) { return e.db.Audit(ctx) }

const (
	readMove  = `select form from imagegend.moves`
	writeMove = `update imagegend.moves set form = $1`
)

// Mark implements [transfer.Database].
func (e *End) Mark(ctx context.Context) (transfer.Mark, error) { return e.db.moved(ctx) }

func (db *DB) moved(ctx context.Context) (transfer.Mark, error) {
	var form []byte
	if err := db.pool.QueryRow(ctx, readMove).Scan(&form); err != nil {
		return transfer.Mark{}, fmt.Errorf("postgres: %w", err)
	}
	return transfer.DecodeMark(form)
}

// refuseMoved returns a transfer.ErrMoved unless the database is to be used.
func (db *DB) refuseMoved(ctx context.Context) error {
	m, err := db.moved(ctx)
	if err != nil {
		return err
	}
	return m.Refusal("the database")
}

// stands returns a transfer.ErrRaced unless a mark is that of the database, which is locked.
func stands(ctx context.Context, in querier, m transfer.Mark) error {
	var form []byte
	if err := in.QueryRow(ctx, readMove+` for update`).Scan(&form); err != nil {
		return err
	}
	return m.Stands(form)
}

// fenced are the tables one of which every write that counts adds to or changes.
var fenced = []string{"accounts", "journal", "generations", "kept", "clock"}

// SetMark implements [transfer.Database]. What is moved elsewhere can be changed by nobody any more, nodes included
// that have the database open.
func (e *End) SetMark(ctx context.Context, former, m transfer.Mark) error {
	err := pgx.BeginTxFunc(ctx, e.db.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if err := stands(ctx, tx, former); err != nil {
			return err
		}
		for _, table := range fenced {
			sql := `alter table imagegend.` + table + ` drop constraint if exists moved`
			if m.State == transfer.Leaving || m.State == transfer.Left {
				sql += `, add constraint moved check (false) not valid`
			}
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, writeMove, m.Encode())
		return err
	})
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	return nil
}

// Take implements [transfer.Database]. The leases of what was running are over.
func (e *End) Take(ctx context.Context, rows []transfer.Row, former, m transfer.Mark) error {
	return e.db.update(ctx, func(s *session) error {
		s.exec(unhurried) // nobody waits for its rows
		if err := stands(s.ctx, s.conn, former); err != nil {
			return err
		}
		if err := s.foresee(rows); err != nil {
			return err
		}
		for _, r := range rows {
			if err := s.takeRow(r); err != nil {
				return err
			}
		}
		s.exec(writeMove, m.Encode())
		return nil
	})
}

func (s *session) takeRow(r transfer.Row) error {
	switch r.Bucket {
	case transfer.Generations:
		row, err := decodeRow(imagegen.GenerationID(r.Key), r.Value)
		if err != nil {
			return imagegen.Violation{Rule: "record", Subject: string(r.Key), Detail: err.Error()}
		}
		s.rows[row.ID] = &generation{Row: row, changed: true, lease: s.at.Now.UnixNano()}
		s.changes++
		return nil
	case transfer.Journal:
		return ledger.Replay(s, r.Value)
	case transfer.Clock:
		mark, err := clock.DecodeMark(r.Value)
		if err != nil {
			return err
		}
		s.PutClock(mark)
		return nil
	}
	s.kept.Put(kv.Bucket(r.Bucket), r.Key, r.Value)
	return nil
}

// Rows implements [transfer.Database].
func (e *End) Rows(ctx context.Context, after transfer.Place, n int) (rows []transfer.Row, err error) {
	err = e.db.view(ctx, func(s *session) error {
		rows = s.rowsBehind(after, n)
		return nil
	})
	return rows, err
}

func (s *session) rowsBehind(after transfer.Place, n int) (rows []transfer.Row) {
	bucket, from := after.Bucket, after.Key
	for {
		if bucket != "" {
			rows = append(rows, s.rowsOf(bucket, from, n-len(rows))...)
		}
		if len(rows) == n {
			return rows
		}
		if bucket, from = s.nextBucket(bucket), nil; bucket == "" {
			return rows
		}
	}
}

// nextBucket is the first behind another that has rows, or may have some; "": there is none.
func (s *session) nextBucket(after string) (next string) {
	s.query(func(rows pgx.Rows) error { return each(rows, func() error { return nil }, &next) },
		`select bucket from imagegend.kept where bucket > $1 order by bucket limit 1`, after)
	for _, own := range []string{transfer.Generations, transfer.Clock, transfer.Journal} {
		if own > after && (next == "" || own < next) {
			next = own
		}
	}
	return next
}

// rowsOf are up to n rows of a bucket behind a key; nil: from the first.
func (s *session) rowsOf(bucket string, after []byte, n int) []transfer.Row {
	switch bucket {
	case transfer.Generations:
		return s.transferred(bucket, `select id, form from imagegend.generations where id > $1 order by id limit $2`, bytesOf(after), n)
	case transfer.Journal:
		return s.entriesBehind(after, n)
	case transfer.Clock:
		return s.clockBehind(after)
	}
	return s.transferred(bucket, `select key, value from imagegend.kept where bucket = $3 and key > $1 order by key limit $2`, bytesOf(after), n, bucket)
}

func (s *session) transferred(bucket, sql string, args ...any) (all []transfer.Row) {
	s.query(func(rows pgx.Rows) error {
		for rows.Next() {
			r := transfer.Row{Place: transfer.Place{Bucket: bucket}}
			if err := rows.Scan(&r.Key, &r.Value); err != nil {
				return err
			}
			all = append(all, r)
		}
		return nil
	}, sql, args...)
	return all
}

func (s *session) entriesBehind(after []byte, n int) (all []transfer.Row) {
	last, known := ledgerkv.JournalPlace(after)
	if !known {
		last = ledger.Place{}
	}
	s.query(func(rows pgx.Rows) error {
		var user, form []byte
		var seq uint64
		return each(rows, func() error {
			key := ledgerkv.JournalKey(ledger.Place{User: imagegen.UserID(user), Seq: seq})
			all = append(all, transfer.Row{Place: transfer.Place{Bucket: transfer.Journal, Key: key}, Value: append([]byte(nil), form...)})
			return nil
		}, &user, &seq, &form)
	}, `select usr, seq, form from imagegend.journal where (usr, seq) > ($1, $2) order by usr, seq limit $3`, []byte(last.User), int64(last.Seq), n)
	return all
}

// clockBehind is the row that tells of the clock, of which a database computes a part; none before anything was written.
func (s *session) clockBehind(after []byte) []transfer.Row {
	mark := s.latestMark()
	if after != nil || mark == (clock.Mark{}) {
		return nil
	}
	return []transfer.Row{{Place: transfer.Place{Bucket: transfer.Clock, Key: ledgerkv.ClockKey()}, Value: mark.Encode()}}
}
