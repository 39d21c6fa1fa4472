package tables

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// row is a record as it is stored. Its zero value is a record that does not exist.
type row struct {
	imagegen.Record
	joint  bool                  // charged by the books of this database, in the commit that accepted it
	holder imagegen.GenerationID // which held the idempotency key when this one took it; "": none did
	due    time.Time             // of a queued record that is delayed
}

// entry is one line of an index.
type entry struct {
	bucket kv.Bucket
	key    []byte
}

func (e entry) equal(o entry) bool { return e.bucket == o.bucket && bytes.Equal(e.key, o.key) }

// entries are the lines that a row has in the indexes. They follow from the row alone.
func (r row) entries() []entry {
	var es []entry
	if s := r.Status(); s != "" {
		es = append(es, entry{listed, listKey(r.User, s, r.ID)})
	}
	if r.Undelivered {
		es = append(es, entry{undelivered, undeliveredKey(r.User, r.JoinKey, r.ID)})
	}
	if r.State == imagegen.StateFailed && r.Prompt != "" {
		es = append(es, entry{prompts, timedKey(r.CompletedAt, r.ID)})
	}
	if r.State == imagegen.StateErased && r.IdempotencyKey != "" {
		es = append(es, entry{hashes, timedKey(r.CompletedAt, r.ID)})
	}
	if r.Dispute != "" {
		es = append(es, entry{disputed, []byte(r.ID)})
	}
	switch {
	case r.waits():
		es = append(es, entry{due, dueKey(r)})
	case r.State == imagegen.StateQueued:
		es = append(es, entry{delayed, timedKey(r.due, r.ID)})
	}
	return es
}

// waits reports whether the record waits for nothing but a slot.
func (r row) waits() bool { return r.State == imagegen.StateQueued && r.due.IsZero() }

// load reads a row. imagegen.ErrNotFound.
func load(tx kv.Tx, id imagegen.GenerationID) (row, error) {
	r := row{Record: imagegen.Record{Intent: imagegen.Intent{ID: id}}}
	key := []byte(id)
	intent := tx.Get(intents, key)
	if intent == nil {
		return row{}, imagegen.ErrNotFound
	}
	if err := r.decodeIntent(intent); err != nil {
		return row{}, err
	}
	for _, b := range []kv.Bucket{open, ended, erased} {
		if progress := tx.Get(b, key); progress != nil {
			return r, r.decodeProgress(progress)
		}
	}
	return row{}, fmt.Errorf("tables: generation %s has no progress", id)
}

// indexed reads the row that an index names.
func indexed(tx kv.Tx, b kv.Bucket, id imagegen.GenerationID) (row, error) {
	r, err := load(tx, id)
	if err != nil { // not wrapped: that an index names what is not there is no answer to a caller
		return row{}, fmt.Errorf("tables: %s names generation %s: %v", b, id, err)
	}
	return r, nil
}

// replace writes a row in the place of another, with all that follows from it. Either may be zero.
// It returns what a reader will find. An imagegen.Violation: it does not fit the charge that was
// made with it. A charge that was made apart may follow rules of its own: only an audit looks at it.
func replace(tx kv.Tx, from, to row) (row, error) {
	if to.joint {
		if err := checkCharge(tx, to); err != nil {
			return row{}, err
		}
	}
	replaceEntries(tx, from.entries(), to.entries())
	if to.State == imagegen.StateGone {
		remove(tx, from)
		return row{}, nil
	}
	if from.State == imagegen.StateGone && to.IdempotencyKey != "" {
		to.holder = reserve(tx, to)
	}
	if from.IdempotencyKey != "" && to.IdempotencyKey == "" {
		release(tx, from)
	}
	id := []byte(to.ID)
	found := row{Record: imagegen.Record{Intent: to.Intent}, joint: to.joint, holder: to.holder}
	if from.State == imagegen.StateGone || forgets(from, to) {
		intent := encodeIntent(to)
		tx.Put(intents, id, intent)
		if err := found.decodeIntent(intent); err != nil {
			return row{}, err
		}
	}
	if b := phase(from.State); b != "" && b != phase(to.State) {
		tx.Delete(b, id)
	}
	progress := encodeProgress(to)
	tx.Put(phase(to.State), id, progress)
	return found, found.decodeProgress(progress)
}

// forgets reports whether the intent of a row has changed.
func forgets(from, to row) bool {
	return to.State == imagegen.StateErasing && from.State != to.State || from.Prompt != to.Prompt || from.IdempotencyKey != to.IdempotencyKey
}

func replaceEntries(tx kv.Tx, from, to []entry) {
	for _, e := range from {
		if !slices.ContainsFunc(to, e.equal) {
			tx.Delete(e.bucket, e.key)
		}
	}
	for _, e := range to {
		if !slices.ContainsFunc(from, e.equal) {
			tx.Put(e.bucket, e.key, present)
		}
	}
}

// remove forgets a row. It was never charged, so that it still holds its idempotency key.
func remove(tx kv.Tx, r row) {
	tx.Delete(intents, []byte(r.ID))
	tx.Delete(phase(r.State), []byte(r.ID))
	if r.IdempotencyKey != "" {
		handBack(tx, r)
	}
}

// reserve gives a row its idempotency key and returns whose it was.
func reserve(tx kv.Tx, r row) (holder imagegen.GenerationID) {
	key := reservedKey(r.User, r.IdempotencyKey)
	holder = imagegen.GenerationID(tx.Get(reserved, key))
	tx.Put(reserved, key, []byte(r.ID))
	return holder
}

// handBack returns the idempotency key of a row to the last of those who had it before and have not lost it.
func handBack(tx kv.Tx, r row) {
	key := reservedKey(r.User, r.IdempotencyKey)
	for id := r.holder; id != ""; {
		former, err := load(tx, id)
		if err != nil {
			break
		}
		if former.IdempotencyKey != "" && bytes.Equal(reservedKey(former.User, former.IdempotencyKey), key) { // a hash is all that an erasure left
			tx.Put(reserved, key, []byte(id))
			return
		}
		id = former.holder
	}
	tx.Delete(reserved, key)
}

// release lets go of an idempotency key that a row has lost, unless another has it by now.
func release(tx kv.Tx, r row) {
	if string(tx.Get(reserved, reservedKey(r.User, r.IdempotencyKey))) == string(r.ID) {
		handBack(tx, r)
	}
}
