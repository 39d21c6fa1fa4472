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
	Due   time.Time // of a queued record that is delayed, by the judged time
	Nth   uint64    // of the records that came by their idempotency key, from 1
}

// The generations, and where they are found. What is open is found without a look at the past.
var (
	generations = table.New(GenerationsIn, func(r *row) []byte { return []byte(r.ID) }, codeRow)

	open        = generations.Index("open", func(r *row) []byte { return all(r.Unsettled() || r.Running()) })
	ended       = generations.Index("ended", func(r *row) []byte { return all(r.Terminal()) })
	disputed    = generations.Index("disputed", func(r *row) []byte { return all(r.Dispute != "") })
	listed      = generations.Index("listed", listedUnder)
	favourites  = generations.Index("favourites", favouriteUnder)
	reserved    = generations.Index("reserved", reservedUnder)
	undelivered = generations.Index("undelivered", undeliveredUnder)
	prompts     = generations.Index("prompts", promptUnder) // of what failed, by its end
	hashes      = generations.Index("hashes", hashUnder)    // of idempotency keys of what was erased, by its end
)

// all is the place of rows in an index that has one.
func all(in bool) []byte {
	if !in {
		return nil
	}
	return []byte{}
}

// listedUnder has the rows that a user can list, by status.
func listedUnder(r *row) []byte {
	if !r.Visible() {
		return nil
	}
	return listKey(r.User, r.Status())
}

// favouriteUnder is listedUnder for favourites only.
func favouriteUnder(r *row) []byte {
	if !r.Favourite {
		return nil
	}
	return listedUnder(r)
}

func listKey(u imagegen.UserID, s imagegen.Status) []byte { return kv.Key(string(u), string(s)) }

// reservedUnder has rows by the hash of their idempotency key: more is not left after an erasure. The last
// that came by it holds it; its identifier may be lower than others', of a clock that was ahead.
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

// undeliveredUnder has the rows that an equal call may join.
func undeliveredUnder(r *row) []byte {
	if !r.Undelivered {
		return nil
	}
	return kv.Key(string(r.User), r.JoinKey[:])
}

// promptUnder has the failed rows that still have a prompt, by their end.
func promptUnder(r *row) []byte {
	if r.State != imagegen.StateFailed || r.Prompt == "" {
		return nil
	}
	return kv.Key(kv.TimeKey(r.CompletedAt))
}

// hashUnder has the erased rows that still have the hash of an idempotency key, by their
// end.
func hashUnder(r *row) []byte {
	if r.State != imagegen.StateErased || r.IdempotencyKey == "" {
		return nil
	}
	return kv.Key(kv.TimeKey(r.CompletedAt))
}

// holder reads the row that holds an idempotency key. imagegen.ErrNotFound.
func holder(tx kv.Tx, u imagegen.UserID, key string) (row, error) {
	for id := range reserved.Down(tx, reservedKey(u, key), nil) {
		return reserved.Get(tx, id)
	}
	return row{}, imagegen.ErrNotFound
}

// load reads a row. imagegen.ErrNotFound.
func load(tx kv.Tx, id imagegen.GenerationID) (row, error) { return generations.Get(tx, []byte(id)) }

// put writes a row in the place of another; either may be zero.
func put(tx kv.Tx, from, to *row) {
	switch imagegen.StateGone {
	case from.State:
		generations.Put(tx, nil, to)
	case to.State:
		generations.Remove(tx, from)
	default:
		generations.Put(tx, from, to)
	}
}

// records are those of rows.
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

// Open calls f for each generation that has not ended or is being erased, until f returns an
// error, which it returns. What belongs to a reference or an attempt that none of them names is
// left over from a former process, unless there are damaged ones, which cannot be read.
func Open(tx kv.Tx, f func(imagegen.Record) error) (damaged []error, err error) {
	return eachOpen(tx, func(r row) error { return f(r.Record) })
}

// eachOpen is Open with the stored rows.
func eachOpen(tx kv.Tx, f func(row) error) (damaged []error, err error) {
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

// Uploads calls f for each reference image that an attempt to come needs, until f returns an error,
// which it returns. Synchronous work has no attempt to come: nobody waits for it any more.
func Uploads(tx kv.Tx, f func(imagegen.GenerationID, imagegen.ReferenceFile) error) error {
	damaged, err := Open(tx, func(r imagegen.Record) error {
		if !rules.Waits(r) {
			return nil
		}
		for _, u := range r.References {
			if err := f(r.ID, u); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, errors.Join(damaged...))
}

// Images calls f for each image that a record names and that must be there: those of an outcome
// that is recorded, until they are erased. It stops at an error of f, which it returns.
func Images(tx kv.Tx, f func(imagegen.ImageKey, imagegen.StoredImage) error) error {
	for r, err := range generations.All(tx) {
		if err != nil {
			return err
		}
		if r.State == imagegen.StateErasing {
			continue
		}
		for _, i := range r.Images {
			if err := f(r.ImageKey(i), i); err != nil {
				return err
			}
		}
	}
	return nil
}
