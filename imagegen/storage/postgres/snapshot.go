package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// Snapshot is all rows as they were when it was taken, until it is closed. It is one transaction, which only reads, so
// nobody waits for it. But it holds one of the DB's connections, and the database cannot clean up what is changed
// meanwhile. It is not safe for concurrent use.
type Snapshot struct {
	*session
	tx pgx.Tx
}

var _ transfer.Snapshot = (*Snapshot)(nil)

// Snapshot takes a snapshot. The caller closes it. All of its queries run under ctx, whatever context they are given.
func (db *DB) Snapshot(ctx context.Context) (*Snapshot, error) {
	s, err := db.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if err := spared(func() error { s.takeTime(); return nil }); err != nil {
		s.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return s, nil
}

// snapshot is Snapshot with the limits of statements that somebody waits for.
func (db *DB) snapshot(ctx context.Context) (*Snapshot, error) {
	c, err := db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	within, cancel := db.patiently(ctx)
	defer cancel()
	tx, err := c.Conn.BeginTx(within, readOnly)
	if err != nil {
		c.release()
		return nil, unread(ctx, err)
	}
	return &Snapshot{newSession(ctx, db, c, false), tx}, nil
}

// renew goes on with the rows as they are by now, in a session that only reads: what was read before is forgotten. So
// the database need not keep for hours what changes.
func (s *session) renew() {
	s.exec("commit")
	s.exec("begin isolation level repeatable read read only")
	s.exec(unhurried)
	fresh := newSession(s.ctx, s.db, s.conn, false)
	fresh.long, fresh.trips = true, s.trips
	*s = *fresh
	s.kept = kept{session: s}
}

// Close ends the transaction and gives the connection back. It must be called, also if ctx has ended.
func (s *Snapshot) Close() {
	ctx, cancel := s.db.patiently(context.Background())
	defer cancel()
	_ = s.tx.Rollback(ctx) // if the connection was lost, the database has done so
	s.conn.release()
}

// Rows implements [transfer.Snapshot].
func (s *Snapshot) Rows(_ context.Context, after transfer.Place, n int) (rows []transfer.Row, err error) {
	err = spared(func() error { rows = s.rowsBehind(after, n); return nil })
	return rows, err
}

// Waiting implements [transfer.Snapshot]. It returns all rows that have not ended, of which only asynchronous ones have
// an attempt to come; the caller tells them apart.
func (s *Snapshot) Waiting(context.Context) (rows []transfer.Row, err error) {
	err = spared(func() error {
		rows = s.transferred(openWork)
		return nil
	})
	return rows, err
}
