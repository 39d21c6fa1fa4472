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
	// lastMoments is how long before its death a process may have failed to note that nobody received an
	// answer.
	lastMoments = 10 * time.Second
	// maxAtDeath bounds how many generations Killed looks at, newest first.
	maxAtDeath = 10_000
)

// Killed notes that the previous process was killed: the answers of its last moments count as received by nobody, so
// that a repeated call gets them instead of being charged again. When that process died is not known. Its last moments
// are those before the latest end of a generation that is not dated later than now: what is, was written before the
// clock was corrected.
func (t *Tables) Killed(ctx context.Context) error {
	_, err := t.writeRow(ctx, func(c changes) (row, error) {
		for _, r := range endedLast(c.tx, c.at) {
			to := r
			var changed bool
			var err error
			if to.Record, changed, err = r.Apply(r.Attempt, imagegen.DeliveryChange{Undelivered: true}); err != nil ||
				!changed {
				continue // it is not one that a repeated call may join, or it is marked already
			}
			if _, err := c.Replace(r, to, Keep); err != nil && !unfit(err) {
				return row{}, err
			}
		}
		return row{}, nil
	})
	return err
}

// endedLast returns the rows that ended in the last moments before the latest end. It leaves rows that cannot
// be read to an audit.
func endedLast(tx kv.Tx, at clock.Reading) (rows []row) {
	var newest time.Time
	early := func(r row) bool { return newest.Sub(r.CompletedAt) > lastMoments }
	for _, id := range first(maxAtDeath, ended.Down(tx, nil, kv.Key(kv.TimeKey(at.Latest())+1))) {
		r, err := ended.Get(tx, id)
		if err != nil {
			continue
		}
		if r.CompletedAt.After(newest) {
			newest = r.CompletedAt
		}
		if !early(r) { // judged by the latest end so far, so as not to hold thousands of prompts at once
			rows = append(rows, r)
		}
	}
	return slices.DeleteFunc(rows, early)
}
