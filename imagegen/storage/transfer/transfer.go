// Package transfer moves everything that one storage holds into another, while nobody else uses either: users,
// keys, sign-ins, the audit trail, credits with their journal, generations, the queue, images and reference images.
//
// What is moved are rows: values as every storage encodes them, each in a bucket, under a key. What follows from
// them – balances, lots, usage, indexes, the queue – the target makes anew by the rules by which it makes it always,
// and its audit proves it. The target keeps how far it has come in the transactions that take the rows, so that a
// move that was broken off goes on where it was.
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

// Row is one value, as it is kept.
type Row struct {
	Place
	Value []byte
}

// Place is where a row lies. Rows are in the order of their buckets, and in each of their keys, byte by byte.
type Place struct {
	Bucket string
	Key    []byte // never empty, but in the place before all
}

func (p Place) compare(o Place) int {
	return cmp.Or(strings.Compare(p.Bucket, o.Bucket), bytes.Compare(p.Key, o.Key))
}

// The buckets that not every storage keeps as they are.
const (
	Generations = string(tables.GenerationsIn)
	Journal     = string(ledgerkv.JournalIn)
	Clock       = string(ledgerkv.ClockIn)
)

// Moves reports whether the rows of a bucket are moved; the others follow from them, or are of one storage alone.
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
	// Rows returns up to n rows behind a place, in order.
	Rows(ctx context.Context, after Place, n int) ([]Row, error)
}

// Database is what holds rows: one end of a move. Nobody else writes to it meanwhile.
type Database interface {
	Reader
	// Audit checks the rows, see [imagegen.Inspector].
	Audit(context.Context) (imagegen.AuditReport, error)

	// Mark returns what was set last; the zero Mark in one that nobody ever moved.
	Mark(context.Context) (Mark, error)
	// SetMark sets it in the place of a former one, durably. ErrRaced: another stands there.
	SetMark(ctx context.Context, former, m Mark) error
	// Take adds rows that come behind all that it has, with what follows from them, and does SetMark, in one
	// transaction. An [imagegen.Violation]: they break a rule.
	Take(ctx context.Context, rows []Row, former, m Mark) error
}

// End is one end of a move.
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

// Mark is written in a storage while it is moved, and afterwards where it was moved from.
type Mark struct {
	State State
	Move  string    // tells this move from others
	Other string    // the other end's name
	Since time.Time // it is in this state
	At    Place     // arriving: of the last row that is here
}

// Errors of a storage with a mark, for errors.Is.
var (
	// ErrMoved: the storage was moved, or is being moved.
	ErrMoved = errors.New("transfer: it was moved, or is on its way")
	// ErrRaced: another process goes on with the same move, or has given it up.
	ErrRaced = errors.New("transfer: another process goes on with this move, or has given it up; nothing was done")
)

// Refusal is why a storage with this mark is not to be used; nil: it is. It wraps ErrMoved.
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

// Stands returns an ErrRaced unless this is the mark that is stored.
func (m Mark) Stands(stored []byte) error {
	there, err := DecodeMark(stored)
	if err == nil && !bytes.Equal(there.Encode(), m.Encode()) {
		err = ErrRaced
	}
	return err
}

// Encode returns the mark as it is stored.
func (m Mark) Encode() []byte { return kv.Encode(&m, markForm) }

// DecodeMark reads a stored mark; of nothing it is zero.
func DecodeMark(stored []byte) (m Mark, err error) {
	if len(stored) == 0 {
		return m, nil
	}
	if err := kv.Decode(stored, &m, markForm); err != nil {
		return Mark{}, fmt.Errorf("transfer: what says whether everything was moved cannot be read: %w", err)
	}
	return m, nil
}

func markForm(c *kv.Coder, m *Mark) {
	c.Version(1)
	kv.Text(c, &m.State)
	kv.Text(c, &m.Move)
	kv.Text(c, &m.Other)
	kv.Moment(c, &m.Since)
	kv.Text(c, &m.At.Bucket)
	kv.Bytes(c, &m.At.Key)
}
