package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// moveKey holds the mark of a directory that is being moved or was moved, see transfer.Mark.
var moveKey = []byte("move")

// TransferEndpoint is a directory that is the source or the target of a move, see package transfer. Unlike a DB,
// it runs no maintenance and has no queue: only the move changes it.
type TransferEndpoint struct{ db *DB }

var _ transfer.Database = (*TransferEndpoint)(nil)

// OpenTransferEndpoint opens a directory to move everything out of it or, if into is set, into it. With into, a
// directory that is absent or empty is created. The caller closes it. The errors are those of Open,
// but OpenTransferEndpoint also opens a directory that was moved, or is being moved.
func OpenTransferEndpoint(dir string, into bool) (*TransferEndpoint, error) {
	if !into {
		if err := checkMoved(dir); err != nil {
			return nil, err
		}
	}
	o := Options{MustExist: !into}
	db, err := openDir(dir, o.withDefaults(), (*DB).startEnd)
	if err != nil {
		return nil, err
	}
	return &TransferEndpoint{db}, nil
}

// checkMoved opens and closes the directory once in the ordinary way, unless it was moved before, so that what a
// killed process left is recovered before it is copied.
func checkMoved(dir string) error {
	db, err := Open(dir, &Options{MustExist: true})
	if errors.Is(err, transfer.ErrMoved) {
		return nil
	}
	if err != nil {
		return err
	}
	return db.Close()
}

// startEnd opens what an audit reads. It loads no queue, since a TransferEndpoint hands out no work.
func (db *DB) startEnd() error {
	if err := errors.Join(db.startFile(), db.openFiles()); err != nil {
		return err
	}
	books, err := ledgerkv.New(db.file, db.now)
	db.store = tables.New(db.file, books)
	return err
}

// refuseMoved returns a transfer.ErrMoved if the data was moved elsewhere, or is on its way from or to here.
func (db *DB) refuseMoved() error {
	m, err := (&TransferEndpoint{db}).Mark(context.Background())
	if err != nil {
		return err
	}
	return m.Refusal(db.dir)
}

// Images returns the store of the images.
func (e *TransferEndpoint) Images() imagegen.ImageStore { return e.db.images }

// Spool returns the store of the reference images.
func (e *TransferEndpoint) Spool() imagegen.Spool { return e.db.spool }

// Close closes the directory.
func (e *TransferEndpoint) Close() error { return e.db.Close() }

// Audit implements [imagegen.Inspector].
func (e *TransferEndpoint) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	return e.db.auditAlone(ctx)
}

// Backup is [DB.Backup]. transfer.ErrMoved: as for [Open].
func (e *TransferEndpoint) Backup(ctx context.Context, w io.Writer) error {
	if err := e.db.refuseMoved(); err != nil {
		return err
	}
	return e.db.Backup(ctx, w)
}

// Mark implements [transfer.Database].
func (e *TransferEndpoint) Mark(ctx context.Context) (m transfer.Mark, err error) {
	err = e.db.file.View(ctx, func(tx kv.Tx) (err error) {
		m, err = transfer.DecodeMark(tx.Get(meta, moveKey))
		return err
	})
	return m, err
}

// SetMark implements [transfer.Database]. It is Take without rows.
func (e *TransferEndpoint) SetMark(ctx context.Context, former, m transfer.Mark) error {
	return e.Take(ctx, nil, former, m)
}

// Rows implements [transfer.Database]. The rows are copies, so they outlive the transaction.
func (e *TransferEndpoint) Rows(ctx context.Context, after transfer.Place, n int) (rows []transfer.Row, err error) {
	err = e.db.file.view(ctx, func(t *tx) error {
		rows = nil
		buckets := t.bolt.Cursor()
		for name, _ := buckets.Seek([]byte(after.Bucket)); name != nil && len(rows) < n; name, _ = buckets.Next() {
			if bucket := string(name); transfer.Moves(bucket) {
				rows = t.rows(rows, bucket, after, n)
			}
		}
		return nil
	})
	return rows, err
}

// rows adds the rows of one bucket behind after, until there are n in all.
func (t *tx) rows(rows []transfer.Row, bucket string, after transfer.Place, n int) []transfer.Row {
	var from []byte
	if bucket == after.Bucket { // else the bucket is read from its first key
		from = append(slices.Clone(after.Key), 0)
	}
	t.Ascend(kv.Bucket(bucket), from, func(key, value []byte) bool {
		rows = append(rows, transfer.Row{Place: transfer.Place{Bucket: bucket, Key: bytes.Clone(key)},
			Value: bytes.Clone(value)})
		return len(rows) < n
	})
	return rows
}

// Round implements [transfer.Database]: a row is kept as it comes.
func (e *TransferEndpoint) Round(r transfer.Row) (transfer.Row, error) { return r, nil }

// Take implements [transfer.Database]. It writes the rows and the new mark in one commit, if the mark is still the
// former one. So a move that was interrupted continues after the last row that was written.
func (e *TransferEndpoint) Take(ctx context.Context, rows []transfer.Row, former, m transfer.Mark) error {
	return e.db.file.Update(ctx, func(tx kv.Tx) error {
		if err := former.CheckCurrent(tx.Get(meta, moveKey)); err != nil {
			return err
		}
		for _, r := range rows {
			if err := takeRow(tx, r); err != nil {
				return err
			}
		}
		tx.Put(meta, moveKey, m.Encode())
		return nil
	})
}

// takeRow writes one row of a move. What follows from it is written too, by the rules that always make it. The rows of
// the trail and of the clock are stored as they came.
func takeRow(tx kv.Tx, r transfer.Row) error {
	if r.Bucket == transfer.Journal {
		return ledger.Replay(ledgerkv.Rows(tx), r.Value)
	}
	return tables.Take(tx, kv.Bucket(r.Bucket), r.Key, r.Value)
}
