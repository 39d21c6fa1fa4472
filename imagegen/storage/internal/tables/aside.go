package tables

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// A generation that cannot be read is put aside: it keeps its record and its charge, and leaves the
// queue and the leases, so that it stops nobody else. An audit finds it.

// spared reads the row that an index names, and leaves the transaction whole if it is damaged.
func spared(tx kv.Tx, b kv.Bucket, id imagegen.GenerationID) (r row, err error) {
	err = kv.Spare(func() (err error) {
		r, err = indexed(tx, b, id)
		return err
	})
	return r, err
}

// damage is why a row cannot be read; nil if it can, or is gone.
func damage(tx kv.Tx, id imagegen.GenerationID) error {
	return kv.Spare(func() error {
		_, err := load(tx, id)
		if errors.Is(err, imagegen.ErrNotFound) {
			return nil
		}
		return err
	})
}

// putAside takes a damaged row out of an index of the queue.
func (t *Tables) putAside(tx kv.Tx, b kv.Bucket, id imagegen.GenerationID, why error) {
	key := lineOf(tx, b, id)
	tx.Delete(b, key)
	var u imagegen.UserID
	if b == due {
		user, model, _, _ := ofDue(key)
		u = imagegen.UserID(user)
		t.endTurn(tx, u, string(model))
	}
	tx.OnCommit(func() {
		t.live.lost(u)
		t.tell(why)
	})
}

// lineOf finds the line of an index that names a generation.
func lineOf(tx kv.Tx, b kv.Bucket, id imagegen.GenerationID) (line []byte) {
	tx.Keys(b, nil, func(key []byte) bool {
		if namedBy(b, key, nil) == id {
			line = bytes.Clone(key)
		}
		return line == nil
	})
	return line
}

// letGo ends the lease of a damaged row, so that nobody recovers it.
func (t *Tables) letGo(tx kv.Tx, id imagegen.GenerationID, why error) {
	tx.OnCommit(func() {
		t.live.forget(id)
		t.tell(why)
	})
}

func (t *Tables) tell(why error) {
	if t.OnDamage != nil {
		t.OnDamage(fmt.Errorf("a generation that cannot be read was put aside; its charge stays open: %w", why))
	}
}
