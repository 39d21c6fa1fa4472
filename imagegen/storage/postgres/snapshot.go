package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// Snapshot is all rows as they were when it was taken, until it is closed. It is one transaction, which only reads: nobody
// waits for it, and meanwhile the database keeps what is changed. It is not safe for concurrent use.
type Snapshot struct {
	*session
	tx pgx.Tx
}

var _ transfer.Snapshot = (*Snapshot)(nil)

// Snapshot takes one. Whoever takes it closes it.
func (db *DB) Snapshot(ctx context.Context) (*Snapshot, error) {
	c, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	tx, err := c.BeginTx(ctx, readOnly)
	if err != nil {
		c.Release()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	s := &Snapshot{newSession(ctx, db, conn{Conn: c}, false), tx}
	if err := spared(func() error { s.exec(unhurried); return nil }); err != nil {
		s.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return s, nil
}

// Close ends it.
func (s *Snapshot) Close() {
	_ = s.tx.Rollback(context.Background()) // a connection that was lost has done so
	s.conn.release()
}

// Rows implements [transfer.Snapshot].
func (s *Snapshot) Rows(_ context.Context, after transfer.Place, n int) (rows []transfer.Row, err error) {
	err = spared(func() error { rows = s.rowsBehind(after, n); return nil })
	return rows, err
}

// Waiting implements [transfer.Snapshot].
func (s *Snapshot) Waiting(context.Context) (rows []transfer.Row, err error) {
	err = spared(func() error {
		rows = s.transferred(transfer.Generations, `select id, form from imagegend.generations where id in (select id from imagegend.waiting union all select id from imagegend.leases)`)
		return nil
	})
	return rows, err
}
