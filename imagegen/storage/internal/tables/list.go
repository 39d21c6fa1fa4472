package tables

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Generations implements [imagegen.GenerationStore].
func (t *Tables) Generations(ctx context.Context, u imagegen.UserID, q imagegen.Query) (records []imagegen.Record, more bool, err error) {
	limit := max(cmp.Or(q.Limit, imagegen.DefaultPageSize), 0)
	err = t.db.View(ctx, func(tx kv.Tx) (err error) {
		ids := newest(tx, u, q, limit+1)
		more = len(ids) > limit
		records, err = loadAll(tx, listed, ids[:min(limit, len(ids))])
		return err
	})
	return records, more, err
}

// Ended implements [imagegen.GenerationStore]. Identifiers rise with time. One that cannot be read
// holds up nobody: an audit finds it.
func (t *Tables) Ended(ctx context.Context, by time.Time, n int) ([]imagegen.Record, error) {
	return view(ctx, t.db, func(tx kv.Tx) (records []imagegen.Record, err error) {
		tx.Keys(ended, nil, func(id []byte) bool {
			if len(records) >= n {
				return false
			}
			r, err := spared(tx, ended, imagegen.GenerationID(id))
			if err == nil && !r.CompletedAt.After(by) {
				records = append(records, r.Record)
			}
			return err != nil || !r.CreatedAt.After(by)
		})
		return records, nil
	})
}

// Forgettable implements [imagegen.GenerationStore]. One that cannot be read holds up nobody.
func (t *Tables) Forgettable(ctx context.Context, s imagegen.State, by time.Time, n int) ([]imagegen.Fence, error) {
	b := prompts
	if s == imagegen.StateErased {
		b = hashes
	}
	return view(ctx, t.db, func(tx kv.Tx) (fences []imagegen.Fence, err error) {
		tx.Keys(b, nil, func(key []byte) bool {
			at, id := timeOf(key)
			if at > kv.TimeKey(by) || len(fences) >= n {
				return false
			}
			if r, err := spared(tx, b, id); err == nil {
				fences = append(fences, r.Fence())
			}
			return true
		})
		return fences, nil
	})
}

// newest returns the identifiers of the user's n newest visible records, by falling identifier.
// Without a status those of each are merged, and what follows them may come as well.
func newest(tx kv.Tx, u imagegen.UserID, q imagegen.Query, n int) []imagegen.GenerationID {
	statuses := imagegen.Statuses()
	if q.Status != "" {
		statuses = []imagegen.Status{q.Status}
	}
	var ids []imagegen.GenerationID
	for _, s := range statuses {
		ids = append(ids, newestOf(tx, u, s, q.After, n)...)
	}
	slices.SortFunc(ids, func(a, b imagegen.GenerationID) int { return cmp.Compare(b, a) })
	return ids
}

func newestOf(tx kv.Tx, u imagegen.UserID, s imagegen.Status, after imagegen.GenerationID, n int) (ids []imagegen.GenerationID) {
	first := listKey(u, s, "")
	before := listKey(u, s, after)
	if after == "" {
		before = kv.Key(string(u), statusByte(s)+1)
	}
	tx.Descend(listed, before, func(key, _ []byte) bool {
		id, ok := strings.CutPrefix(string(key), string(first))
		if !ok || len(ids) == n {
			return false
		}
		ids = append(ids, imagegen.GenerationID(id))
		return true
	})
	return ids
}

// loadAll reads the rows that an index names.
func loadAll(tx kv.Tx, b kv.Bucket, ids []imagegen.GenerationID) ([]imagegen.Record, error) {
	records := make([]imagegen.Record, 0, len(ids))
	for _, id := range ids {
		r, err := indexed(tx, b, id)
		if err != nil {
			return nil, err
		}
		records = append(records, r.Record)
	}
	return records, nil
}
