// Package transfer moves everything that one storage holds into another, while nobody else uses either: users,
// keys, sign-ins, the audit trail, credits with their journal, generations, the queue, images and reference images.
//
// A move copies rows: values in an encoding that all storages share, each in a bucket, under a key. Data that
// follows from them (balances, lots, usage, indexes, the queue) is not copied: the target computes it from the rows by
// its ordinary rules, and its audit checks that.
//
// Both storages keep a [Mark], and refuse ordinary use as long as it says that a move is under way. [Run] sets the
// marks, copies, compares, and removes the target's mark last. The transactions that add rows to the target also write
// the progress into its mark, so that an interrupted move continues where it was. [GiveUp] returns the source to
// ordinary use.
//
// [Copy] is for a backup of a storage that remains in use: it copies the data of one moment, and does not mark the
// source.
//
// The storages implement [Database]; this package imports none of them.
package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Row is one value in its encoded form, which is the same in every storage.
type Row struct {
	Place
	Value []byte
}

// Place is the bucket and the key of a row. Rows are ordered by bucket, and then by key, both byte by byte. So the rows
// of two storages can be compared side by side. The zero Place comes before all rows.
type Place struct {
	Bucket string
	Key    []byte // empty only in the zero Place
}

// compare is negative if p comes before o, positive if it comes behind, and 0 for the same place.
func (p Place) compare(o Place) int {
	return cmp.Or(strings.Compare(p.Bucket, o.Bucket), bytes.Compare(p.Key, o.Key))
}

// Buckets that some storages do not keep as keys and values. Such a storage composes their rows in Rows, and decomposes
// them in Take.
const (
	Generations = string(tables.GenerationsIn)
	Journal     = string(ledgerkv.JournalIn)
	Clock       = string(ledgerkv.ClockIn)
)

// moved are the buckets whose rows are moved.
var moved = append(tables.Moved(), ledgerkv.JournalIn, ledgerkv.ClockIn, trail.Rows, trail.Ends)

// Moves reports whether the rows of a bucket are moved. Other buckets follow from these (indexes, digests, and all of
// the ledger except its journal and clock), or concern one storage alone (its format and its mark) or are not worth it
// (what package tables forgets by itself).
func Moves(bucket string) bool { return slices.Contains(moved, kv.Bucket(bucket)) }

// Reader reads rows.
type Reader interface {
	// Rows returns up to n rows after a place, in order. It may return fewer although others follow; only if it returns
	// none are there no others.
	Rows(ctx context.Context, after Place, n int) ([]Row, error)
}

// Database is the database of one end of a move. Nobody else writes to it during the move. Its methods return only
// after their writes are durable.
type Database interface {
	Reader
	// Audit checks the rows, see [imagegen.Inspector].
	Audit(context.Context) (imagegen.AuditReport, error)

	// Mark returns the mark that was set last; the zero Mark if none was set.
	Mark(context.Context) (Mark, error)
	// SetMark replaces the mark former by m. ErrRaced: the current mark is not former, and stays.
	SetMark(ctx context.Context, former, m Mark) error
	// Take adds rows that come after all existing ones, together with all data that follows from them, and replaces the
	// mark, in one transaction. ErrRaced: as for SetMark. An [imagegen.Violation]: the rows break a rule, and none was
	// added.
	Take(ctx context.Context, rows []Row, former, m Mark) error
	// Round returns a row of another Database as it is once this one has taken it, which may keep less of some values
	// than their bytes say, such as times to the microsecond.
	Round(Row) (Row, error)
}

// End is the source or the target of a move: a database, and the stores of the images and reference images of its
// generations.
type End struct {
	Name string // for people, without secrets
	Database
	Images imagegen.ImageStore
	Spool  imagegen.Spool
}

// State is the role of a storage in a move.
type State string

// The states. A storage whose State is not Ordinary can be opened only for a move.
const (
	Ordinary State = ""
	Leaving  State = "leaving"  // it is being moved elsewhere
	Left     State = "left"     // it was moved elsewhere
	Arriving State = "arriving" // another storage is being moved into it
)

// Mark is kept in a storage while it takes part in a move, and stays in the source for good after the move. The zero
// Mark is that of a storage in ordinary use. A process that changes a mark passes the mark that it expects (SetMark),
// so if two processes run the same move, one of them fails with ErrRaced.
type Mark struct {
	State State
	Move  string    // identifies the move; the same at both ends
	Other string    // the name of the other end
	Since time.Time // when the mark was set
	At    Place     // if Arriving: the last row that was added; zero: none yet
}

// Errors of a storage with a mark, for errors.Is.
var (
	// ErrMoved: the storage was moved, or is being moved.
	ErrMoved = errors.New("transfer: it was moved, or is on its way")
	// ErrRaced: another process continues the same move, or has given it up.
	ErrRaced = errors.New("transfer: another process goes on with this move, or has given it up; nothing was done")
)

// Refusal returns nil if a storage with this mark may be used, else an ErrMoved that tells an operator what to do. name
// is the name of the storage.
func (m Mark) Refusal(name string) error {
	why := ""
	switch m.State {
	case Ordinary:
		return nil
	case Left:
		why = fmt.Sprintf(
			"everything in %s was moved to %s on %s; use that, and remove this once you have a backup of it", name,
			m.Other, m.Since.Format(time.DateTime))
	case Leaving:
		why = fmt.Sprintf("%s is being moved to %s; run the same imagegend move again to go on, or imagegend move --give-up to use this as before", name, m.Other)
	default:
		why = fmt.Sprintf("%s is being moved into %s, and not all of it is there; run the same imagegend move again to go on", m.Other, name)
	}
	return fmt.Errorf("%w: %s", ErrMoved, why)
}

// CheckCurrent returns ErrRaced unless m equals the mark that is stored, of which stored is the encoded form. A
// Database calls it in the transaction that replaces the mark. It compares the encoded forms, since a stored time has
// lost its zone and its monotonic reading.
func (m Mark) CheckCurrent(stored []byte) error {
	there, err := DecodeMark(stored)
	if err == nil && !bytes.Equal(there.Encode(), m.Encode()) {
		err = ErrRaced
	}
	return err
}

// Encode returns the stored form of the mark.
func (m Mark) Encode() []byte { return kv.Encode(&m, markForm) }

// DecodeMark decodes a stored mark; the zero Mark if stored is empty.
func DecodeMark(stored []byte) (m Mark, err error) {
	if len(stored) == 0 {
		return m, nil
	}
	if err := kv.Decode(stored, &m, markForm); err != nil {
		return Mark{}, fmt.Errorf("transfer: the mark of a move cannot be read: %w", err)
	}
	return m, nil
}

// markForm is the encoding of a mark, the same in every storage.
func markForm(c *kv.Coder, m *Mark) {
	c.Version(1)
	kv.Text(c, &m.State)
	kv.Text(c, &m.Move)
	kv.Text(c, &m.Other)
	kv.Moment(c, &m.Since)
	kv.Text(c, &m.At.Bucket)
	kv.Bytes(c, &m.At.Key)
}
