package tables

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// mostUndelivered bounds what Undelivered returns.
const mostUndelivered = 100

// Undelivered implements [imagegen.GenerationStore].
func (t *Tables) Undelivered(ctx context.Context, u imagegen.UserID, joinKey [32]byte) ([]imagegen.Record, error) {
	return view(ctx, t.db, func(tx kv.Tx) ([]imagegen.Record, error) {
		var ids []imagegen.GenerationID
		prefix := undeliveredKey(u, joinKey, "")
		tx.Descend(undelivered, append(bytes.Clone(prefix), 0xff), func(key, _ []byte) bool {
			id, ok := bytes.CutPrefix(key, prefix)
			if ok {
				ids = append(ids, imagegen.GenerationID(id))
			}
			return ok && len(ids) < mostUndelivered
		})
		slices.Reverse(ids)
		return loadAll(tx, undelivered, ids)
	})
}

const (
	// lastMoments is how long before its death a process may have failed to note that an answer was received
	// by nobody.
	lastMoments = 10 * time.Second
	// mostAtDeath bounds how many generations are looked at for that, newest first.
	mostAtDeath = 10_000
)

// Killed notes that the process before was: the answers of its last moments count as received by nobody.
func (t *Tables) Killed(ctx context.Context) error {
	_, err := t.write(ctx, func(tx kv.Tx, now time.Time) (row, error) {
		for _, r := range endedLast(tx) {
			to := r
			var changed bool
			var err error
			if to.Record, changed, err = r.Apply(r.Attempt, imagegen.Delivery{Undelivered: true}); err != nil || !changed {
				continue // nobody may join it, or it is known already
			}
			if _, err := t.replace(tx, r, to, now, time.Time{}); err != nil {
				return row{}, err
			}
		}
		return row{}, nil
	})
	return err
}

// endedLast returns what ended in the last moments before the newest end. Rows that cannot be read are
// for an audit.
func endedLast(tx kv.Tx) (rows []row) {
	var newest time.Time
	seen := 0
	early := func(r row) bool { return newest.Sub(r.CompletedAt) > lastMoments }
	tx.Descend(ended, []byte{0xff}, func(id, _ []byte) bool {
		if r, err := load(tx, imagegen.GenerationID(id)); err == nil {
			newest = later(newest, r.CompletedAt)
			if !early(r) { // by what is known yet: thousands of prompts are not held at once
				rows = append(rows, r)
			}
		}
		seen++
		return seen < mostAtDeath
	})
	return slices.DeleteFunc(rows, early)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
