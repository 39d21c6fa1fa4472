package tables

import (
	"context"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const (
	// lastMoments is how long before its death a process may have failed to note that an answer was received
	// by nobody.
	lastMoments = 10 * time.Second
	// maxAtDeath bounds how many generations are looked at for that, newest first.
	maxAtDeath = 10_000
)

// Killed notes that the process before was: the answers of its last moments count as received by nobody.
func (t *Tables) Killed(ctx context.Context) error {
	_, err := t.write(ctx, func(tx kv.Tx, at clock.Reading) (row, error) {
		for _, r := range endedLast(tx) {
			to := r
			var changed bool
			var err error
			if to.Record, changed, err = r.Apply(r.Attempt, imagegen.Delivery{Undelivered: true}); err != nil || !changed {
				continue // nobody may join it, or it is known already
			}
			if _, err := t.replace(tx, r, to, at, time.Time{}); err != nil {
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
	early := func(r row) bool { return newest.Sub(r.CompletedAt) > lastMoments }
	for _, id := range first(maxAtDeath, ended.Down(tx, nil, nil)) {
		r, err := ended.Get(tx, id)
		if err != nil {
			continue
		}
		if r.CompletedAt.After(newest) {
			newest = r.CompletedAt
		}
		if !early(r) { // by what is known yet: thousands of prompts are not held at once
			rows = append(rows, r)
		}
	}
	return slices.DeleteFunc(rows, early)
}
