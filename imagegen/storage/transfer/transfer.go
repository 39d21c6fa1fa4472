// Package transfer moves everything that one storage holds into another, while nobody else uses either: users,
// keys, sign-ins, the audit trail, credits with their journal, generations, the queue, images and reference images.
//
// What is moved is rows: values as every storage encodes them, each in a bucket, under a key. What follows from
// them – balances, lots, usage, where generations are found, the queue – is not moved: the target makes it anew by the
// same rules as always, and its audit proves that.
//
// Both storages keep a [Mark], and refuse ordinary use as long as it says that a move is under way. [Run] sets the
// marks, copies, compares, and takes the target's mark away last. How far it has come is written into the target's
// mark in the transactions that take the rows, so a move that was broken off goes on where it was. [GiveUp] returns
// the source to ordinary use.
//
// [Copy] is for a backup of a storage that remains in use: it copies one moment of it, and leaves the source unmarked.
//
// The storages themselves implement [Database]; this package knows none of them.
package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// Row is one value in its encoded form, which is the same in every storage.
type Row struct {
	Place
	Value []byte
}

// Place is where a row lies. Rows are in the order of their buckets, and within a bucket in that of their keys, both
// byte by byte: so the rows of two storages can be compared side by side. The zero Place comes before all rows.
type Place struct {
	Bucket string
	Key    []byte // empty in the zero Place only
}

// compare is negative if p comes before o, positive if it comes behind, and 0 for the same place.
func (p Place) compare(o Place) int {
	return cmp.Or(strings.Compare(p.Bucket, o.Bucket), bytes.Compare(p.Key, o.Key))
}

// The buckets whose rows some storages keep in another way than a bucket of keys and values. Such a storage makes the
// rows up as it reads them, and takes them apart again.
const (
	Generations = string(tables.GenerationsIn)
	Journal     = string(ledgerkv.JournalIn)
	Clock       = string(ledgerkv.ClockIn)
)

// Moves reports whether the rows of a bucket are moved. Those of other buckets follow from them (the indexes of
// generations, and all of the ledger but its journal and clock), or concern one storage alone (its format and its mark).
func Moves(bucket string) bool {
	switch bucket {
	case Generations, Journal, Clock:
		return true
	}
	for _, of := range []string{Generations, "ledger", "storage"} {
		if bucket == of || strings.HasPrefix(bucket, of+".") {
			return false
		}
	}
	return true
}

// Reader is what rows are read from.
type Reader interface {
	// Rows returns up to n rows behind a place, in order. There are no others behind the last one only if it returns
	// none.
	Rows(ctx context.Context, after Place, n int) ([]Row, error)
}

// Database is what holds rows: one end of a move. Nobody else writes to it meanwhile. Its methods return only after what
// they write is durable.
type Database interface {
	Reader
	// Audit checks the rows, see [imagegen.Inspector].
	Audit(context.Context) (imagegen.AuditReport, error)

	// Mark returns what was set last; the zero Mark in one that nobody ever moved.
	Mark(context.Context) (Mark, error)
	// SetMark replaces the mark former by m. ErrRaced: the mark is another one, and stays as it is.
	SetMark(ctx context.Context, former, m Mark) error
	// Take adds rows, which come behind all that are there, with what follows from them, and does SetMark, in one
	// transaction. ErrRaced, as there. An [imagegen.Violation]: the rows break a rule, and none was added.
	Take(ctx context.Context, rows []Row, former, m Mark) error
}

// End is one end of a move: a database, and where the images and reference images of its generations lie.
type End struct {
	Name string // for people, without secrets
	Database
	Images imagegen.ImageStore
	Spool  imagegen.Spool
}

// State is what a Mark says of a storage.
type State string

// A storage that is not Ordinary is opened for nothing but a move.
const (
	Ordinary State = ""
	Leaving  State = "leaving"  // it is being moved elsewhere
	Left     State = "left"     // it was
	Arriving State = "arriving" // something is being moved into it, and not all of it is here
)

// Mark is kept in a storage while it takes part in a move, and at the source for ever after. The zero Mark is that of a
// storage in ordinary use. Whoever changes a mark names the one that they have read or set last (SetMark), so of two
// processes with the same move one is refused.
type Mark struct {
	State State
	Move  string    // tells this move from others; the same at both ends
	Other string    // the other end's name
	Since time.Time // when the mark was set
	At    Place     // arriving: that of the last row that is here; zero: none is yet
}

// Errors of a storage with a mark, for errors.Is.
var (
	// ErrMoved: the storage was moved, or is being moved.
	ErrMoved = errors.New("transfer: it was moved, or is on its way")
	// ErrRaced: another process goes on with the same move, or has given it up.
	ErrRaced = errors.New("transfer: another process goes on with this move, or has given it up; nothing was done")
)

// Refusal returns why a storage with this mark is not to be used, in words that tell an operator what to do; nil: it may
// be used. It wraps ErrMoved. name is the storage's.
func (m Mark) Refusal(name string) error {
	why := ""
	switch m.State {
	case Ordinary:
		return nil
	case Left:
		why = fmt.Sprintf("everything in %s was moved to %s on %s; use that, and remove this once you have a backup of it", name, m.Other, m.Since.Format(time.DateTime))
	case Leaving:
		why = fmt.Sprintf("%s is being moved to %s; run the same imagegend move again to go on, or imagegend move --give-up to use this as before", name, m.Other)
	default:
		why = fmt.Sprintf("%s is being moved into %s, and not all of it is there; run the same imagegend move again to go on", m.Other, name)
	}
	return fmt.Errorf("%w: %s", ErrMoved, why)
}

// Stands returns an ErrRaced unless m is the mark that is stored. A Database calls it in the transaction that replaces
// the mark. It compares what is encoded, since a time that was stored has lost its zone and monotonic reading.
func (m Mark) Stands(stored []byte) error {
	there, err := DecodeMark(stored)
	if err == nil && !bytes.Equal(there.Encode(), m.Encode()) {
		err = ErrRaced
	}
	return err
}

// Encode returns the mark as it is stored.
func (m Mark) Encode() []byte { return kv.Encode(&m, markForm) }

// DecodeMark reads a stored mark. Where nothing was stored it is the zero Mark.
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
