package postgres

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// TransferEndpoint is a database that is one end of a move, see package transfer. It has neither committer nor upkeep:
// what it does are single transactions, and nothing in it changes on its own.
type TransferEndpoint struct{ db *DB }

var _ transfer.Database = (*TransferEndpoint)(nil)

// OpenTransferEndpoint connects to a database in order to move everything out of it, or into it. The caller closes it.
// The errors are those of Open, except that a database which was moved, or is being moved, can be opened.
func OpenTransferEndpoint(ctx context.Context, c Config) (*TransferEndpoint, error) {
	db, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	return &TransferEndpoint{db}, nil
}

// Close ends the connections.
func (e *TransferEndpoint) Close() error {
	e.db.hangUp()
	return nil
}

// Audit implements [imagegen.Inspector].
func (e *TransferEndpoint) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	return e.db.Audit(ctx)
}

// Mark implements [transfer.Database].
func (e *TransferEndpoint) Mark(ctx context.Context) (transfer.Mark, error) { return e.db.moved(ctx) }

// moved reads the mark of a database; one that never took part in a move has the zero mark.
func (db *DB) moved(ctx context.Context) (transfer.Mark, error) {
	m, err := readMove(ctx, db.sql, "")
	if err != nil {
		return m, fmt.Errorf("postgres: %w", err)
	}
	return m, nil
}

func readMove(ctx context.Context, in sender, lock string) (transfer.Mark, error) {
	var m moving
	err := in.QueryRow(ctx, inMoves.from()+lock).Scan(inMoves.cells(&m)...)
	return m.Mark, err
}

// writeMove replaces the mark.
func writeMove(ctx context.Context, in sender, m transfer.Mark) error {
	_, err := in.Exec(ctx, inMoves.puts, inMoves.lists([]*moving{{true, m}})...)
	return err
}

// refuseMoved returns a transfer.ErrMoved unless the database is to be used.
func (db *DB) refuseMoved(ctx context.Context) error {
	m, err := db.moved(ctx)
	if err != nil {
		return err
	}
	return m.Refusal("the database")
}

// stands locks the mark of the database, and returns a transfer.ErrRaced unless it is m. The lock lasts until the
// transaction of in ends, so two processes with the same move go on one after the other, and the second is refused.
func stands(ctx context.Context, in sender, m transfer.Mark) error {
	there, err := readMove(ctx, in, ` for update`)
	if err != nil {
		return err
	}
	return m.CheckCurrent(there.Encode())
}

// fenced are tables such that every write that matters adds, changes or removes a row of one of them.
var fenced = []string{"accounts", "entries", "generations", "users", "api_keys", "passwords", "sign_ins", "invitations",
	"passkeys", "identities", "operator_keys", "settings", "trail", "trail_new", "clock"}

// SetMark implements [transfer.Database]. As long as everything is being moved elsewhere, and afterwards, nobody can
// change it, not even a node that has had the database open since before: a node looks at the mark only when it opens,
// so triggers are what stops its writes. CREATE TRIGGER waits for transactions under way, whose writes the move then
// finds.
func (e *TransferEndpoint) SetMark(ctx context.Context, former, m transfer.Mark) error {
	err := pgx.BeginTxFunc(ctx, e.db.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		in := inSchema{tx, e.db.sql.schema}
		if err := stands(ctx, in, former); err != nil {
			return err
		}
		for _, table := range fenced {
			if _, err := in.Exec(ctx, `drop trigger if exists moved on imagegend.`+table); err != nil {
				return err
			}
			if m.State != transfer.Leaving && m.State != transfer.Left {
				continue
			}
			if _, err := in.Exec(ctx,
				`create trigger moved before insert or update or delete or truncate on imagegend.`+table+
					` for each statement execute function imagegend.moved()`); err != nil {
				return err
			}
		}
		return writeMove(ctx, in, m)
	})
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	return nil
}

// Take implements [transfer.Database]. It takes the rows and sets the mark in one transaction, however long that takes.
// What was running at the source gets a lease that is over, so that the first node recovers it.
func (e *TransferEndpoint) Take(ctx context.Context, rows []transfer.Row, former, m transfer.Mark) error {
	return e.db.update(ctx, func(s *session) error {
		s.takeTime() // nobody else works on the target, so nobody waits
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
		return writeMove(s.ctx, s.conn, m)
	})
}

// takeRow adds one row. Accounts, lots, charges and usage follow from the journal by the rules that always make them.
func (s *session) takeRow(r transfer.Row) error {
	switch r.Bucket {
	case transfer.Generations:
		row, err := tables.DecodeRow(r.Value)
		if err == nil && string(row.ID) != string(r.Key) {
			err = errOfAnother
		}
		if err != nil {
			return imagegen.Violation{Rule: "record", Subject: string(r.Key), Detail: err.Error()}
		}
		s.rows[row.ID] = &generation{Row: row, changed: true, lease: s.at.Now}
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

// Round implements [transfer.Database]: times are kept to the microsecond.
func (e *TransferEndpoint) Round(r transfer.Row) (transfer.Row, error) {
	var err error
	switch r.Bucket {
	case transfer.Journal: // its times are whole microseconds everywhere
	case transfer.Generations:
		var row tables.Row
		row, err = tables.DecodeRow(r.Value)
		inMicroseconds(reflect.ValueOf(&row))
		r.Value = tables.EncodeRow(&row)
	case transfer.Clock:
		var mark clock.Mark
		mark, err = clock.DecodeMark(r.Value)
		inMicroseconds(reflect.ValueOf(&mark))
		r.Value = mark.Encode()
	default:
		r.Value, err = shelves[kv.Bucket(r.Bucket)].round(r.Key, r.Value)
	}
	return r, err
}

// Rows implements [transfer.Database].
func (e *TransferEndpoint) Rows(ctx context.Context, after transfer.Place, n int) (rows []transfer.Row, err error) {
	err = e.db.view(ctx, func(s *session) error {
		rows = s.rowsBehind(after, n)
		return nil
	})
	return rows, err
}

// rowsBehind returns up to n rows behind a place, bucket by bucket, in the order of their names. Fewer than n: there
// are no more.
func (s *session) rowsBehind(after transfer.Place, n int) (rows []transfer.Row) {
	buckets := []string{transfer.Generations, transfer.Clock, transfer.Journal}
	for b := range shelves {
		buckets = append(buckets, string(b))
	}
	slices.Sort(buckets)
	for _, bucket := range buckets {
		var from []byte
		if bucket == after.Bucket {
			from = after.Key
		} else if bucket < after.Bucket {
			continue
		}
		if rows = append(rows, s.rowsOf(bucket, from, n-len(rows))...); len(rows) == n {
			break
		}
	}
	return rows
}

// rowsOf returns up to n rows of a bucket behind a key; nil: from the first. The keys and values are those that the
// default storage has, whatever the tables look like here, so that the rows of both can be compared.
func (s *session) rowsOf(bucket string, after []byte, n int) []transfer.Row {
	switch bucket {
	case transfer.Generations:
		return s.transferred(fromGenerations+` where id > $1 order by id limit $2`, string(after), n)
	case transfer.Journal:
		return s.entriesBehind(after, n)
	case transfer.Clock:
		return s.clockBehind(after)
	}
	var rows []transfer.Row
	s.kept.Ascend(kv.Bucket(bucket), after, func(key, value []byte) bool {
		if !bytes.Equal(key, after) {
			rows = append(rows, transfer.Row{Place: transfer.Place{Bucket: bucket, Key: key}, Value: value})
		}
		return len(rows) < n
	})
	return rows
}

// transferred returns the generations of a query.
func (s *session) transferred(sql string, args ...any) (all []transfer.Row) {
	read(s, scanGenerations, func(g *genRow) {
		r := g.lift()
		all = append(all, transfer.Row{Place: transfer.Place{Bucket: transfer.Generations, Key: []byte(r.ID)},
			Value: tables.EncodeRow(&r)})
	}, sql, args...)
	return all
}

// entriesBehind returns entries of the journal, under the keys that the default storage would give them.
func (s *session) entriesBehind(after []byte, n int) (all []transfer.Row) {
	last, known := ledgerkv.JournalPlace(after)
	if !known {
		last = ledger.Place{}
	}
	read(s, scanEntries, func(e ledger.Entry) {
		key := ledgerkv.JournalKey(ledger.Place{User: e.User, Seq: e.Seq})
		all = append(all, transfer.Row{Place: transfer.Place{Bucket: transfer.Journal, Key: key}, Value: e.Stored()})
	}, inEntries.from()+` where (usr, seq) > ($1, $2) order by usr, seq limit $3`, last.User, last.Seq, n)
	return all
}

// clockBehind returns the one row of the clock, or none: behind it, and where the clock was never written down. When an
// entry was written last is computed here, since no row of this database has it (session.Clock).
func (s *session) clockBehind(after []byte) []transfer.Row {
	mark := s.latestMark()
	if after != nil || mark == (clock.Mark{}) {
		return nil
	}
	return []transfer.Row{{Place: transfer.Place{Bucket: transfer.Clock, Key: ledgerkv.ClockKey()},
		Value: mark.Encode()}}
}
