package tables

import (
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
)

// row is a record as it is stored. Its zero value is a record that does not exist.
type row struct {
	imagegen.Record
	Joint bool      // charged by the books of this database, in the commit that accepted it
	Due   time.Time // of a queued record that is delayed: when it is due, by the judged time; else zero
	Nth   uint64    // which of the records with its idempotency key this is, counted from 1; 0: it has no key
}

// The generations, and the indexes by which they are found. Open ones are found without a look at the past. An
// index without an order of its own lists identifiers, which rise with time.
var (
	generations = table.New(GenerationsIn, func(r *row) []byte { return []byte(r.ID) }, codeRow)

	open        = generations.Index("open", func(r *row) []byte { return all(r.Unsettled() || r.Running()) })
	disputed    = generations.Index("disputed", func(r *row) []byte { return all(r.Dispute != "") })
	listed      = generations.Index("listed", listedUnder)
	favourites  = generations.Index("favourites", favouriteUnder)
	reserved    = generations.Index("reserved", reservedUnder)
	undelivered = generations.Index("undelivered", undeliveredUnder)

	// By the end: of all rows that have ended, of prompts of what failed, and of hashes of idempotency keys of what was
	// erased.
	ended   = generations.Index("ends", func(r *row) []byte { return endOf(r, r.Terminal()) })
	prompts = generations.Index("prompts", func(r *row) []byte {
		return endOf(r, r.State == imagegen.StateFailed && r.Prompt != "")
	})
	hashes = generations.Index("hashes", func(r *row) []byte {
		return endOf(r, r.State == imagegen.StateErased && r.IdempotencyKey != "")
	})
)

// all is the place of a row in an index that only tells whether a row is in it.
func all(in bool) []byte {
	if !in {
		return nil
	}
	return []byte{}
}

// listedUnder indexes the rows that a user can list, by status.
func listedUnder(r *row) []byte {
	if !r.Visible() {
		return nil
	}
	return listKey(r.User, r.Status())
}

// favouriteUnder is listedUnder for favourites alone.
func favouriteUnder(r *row) []byte {
	if !r.Favourite {
		return nil
	}
	return listedUnder(r)
}

func listKey(u imagegen.UserID, s imagegen.Status) []byte { return kv.Key(string(u), string(s)) }

// reservedUnder indexes rows by the hash of their idempotency key, since an erasure leaves only the hash. The
// row that came last with a key holds it. Nth gives that order: identifiers do not, since one that was made
// while a clock was ahead is higher than later ones.
func reservedUnder(r *row) []byte {
	if r.IdempotencyKey == "" {
		return nil
	}
	return kv.Key(reservedKey(r.User, r.IdempotencyKey), r.Nth)
}

func reservedKey(u imagegen.UserID, key string) []byte {
	hash := imagegen.IdempotencyHash(key)
	return kv.Key(string(u), hash[:])
}

// undeliveredUnder indexes the rows that a repeated call may join, by what makes a call the same.
func undeliveredUnder(r *row) []byte {
	if !r.Undelivered {
		return nil
	}
	return kv.Key(string(r.User), r.JoinKey[:])
}

// endOf is the place of a row in an index by the end, if it is in it.
func endOf(r *row, in bool) []byte {
	if !in {
		return nil
	}
	return kv.Key(kv.TimeKey(r.CompletedAt))
}

// holder reads the row that holds an idempotency key, whether or not it still reserves it.
// imagegen.ErrNotFound: none has it.
func holder(tx kv.Tx, u imagegen.UserID, key string) (row, error) {
	for id := range reserved.Down(tx, reservedKey(u, key), nil) {
		return reserved.Get(tx, id)
	}
	return row{}, imagegen.ErrNotFound
}

// load reads a row. imagegen.ErrNotFound.
func load(tx kv.Tx, id imagegen.GenerationID) (row, error) { return generations.Get(tx, []byte(id)) }

// put replaces one row by another; either may be zero. So it also creates and removes rows.
func put(tx kv.Tx, from, to *row) {
	count(tx, from, to)
	switch imagegen.StateGone { // which is also the state of the zero row
	case from.State:
		generations.Put(tx, nil, to)
	case to.State:
		generations.Remove(tx, from)
	default:
		generations.Put(tx, from, to)
	}
}

// records returns the records of rows; with an error it returns only that.
func records(rows []row, err error) ([]imagegen.Record, error) {
	if err != nil {
		return nil, err
	}
	rs := make([]imagegen.Record, len(rows))
	for i, r := range rows {
		rs[i] = r.Record
	}
	return rs, nil
}

// EachOpen calls f for each generation that has not ended or is being erased, until f returns an
// error, which it returns. damaged has an error for each that cannot be read. If there is none, files
// of references and attempts that no open generation names are left over from a former process.
func EachOpen(tx kv.Tx, f func(Row) error) (damaged []error, err error) {
	for id := range open.Keys(tx, nil) {
		r, wrong := open.Get(tx, id)
		if wrong != nil {
			damaged = append(damaged, wrong)
			continue
		}
		if err := f(r); err != nil {
			return damaged, err
		}
	}
	return damaged, nil
}

// References calls f for each reference image that a future attempt needs, until f returns an error, which it
// returns. A damaged generation is an error too, but only after all others.
func References(tx kv.Tx, f func(rules.File) error) error {
	damaged, err := EachOpen(tx, func(r row) error { return eachFile(rules.References(r.Record), f) })
	return errors.Join(err, errors.Join(damaged...))
}

// Images calls f for each image whose file must exist. It stops at an error of f, or at a generation that cannot be
// read, and returns that error.
func Images(tx kv.Tx, f func(rules.File) error) error {
	for r, err := range generations.All(tx) {
		if err == nil {
			err = eachFile(rules.Images(r.Record), f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachFile calls f for files until it returns an error, which eachFile returns.
func eachFile(files []rules.File, f func(rules.File) error) error {
	for _, file := range files {
		if err := f(file); err != nil {
			return err
		}
	}
	return nil
}
