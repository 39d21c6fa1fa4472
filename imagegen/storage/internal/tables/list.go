package tables

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
)

// Generations implements [imagegen.Store]. It finds the identifiers by an index, one record more than the page has,
// and reads only the records of the page.
func (t *Tables) Generations(ctx context.Context, u imagegen.UserID, q imagegen.Query) (page []imagegen.Record, more bool, err error) {
	limit := max(cmp.Or(q.Limit, imagegen.DefaultPageSize), 0)
	err = t.db.View(ctx, func(tx kv.Tx) (err error) {
		in := listed
		if q.Favourites {
			in = favourites
		}
		ids := newest(tx, in, u, q, limit+1)
		more = len(ids) > limit
		page, err = records(in.Values(tx, slices.Values(ids[:min(limit, len(ids))])))
		return err
	})
	return page, more, err
}

// newest returns the identifiers of the user's n newest records in an index, by falling identifier. Without a
// status it merges the n newest of each, so it may return more than n; the first n are the right ones.
func newest(tx kv.Tx, in *table.Index[row], u imagegen.UserID, q imagegen.Query, n int) (ids [][]byte) {
	statuses := imagegen.Statuses()
	if q.Status != "" {
		statuses = []imagegen.Status{q.Status}
	}
	var before []byte
	if q.After != "" {
		before = []byte(q.After)
	}
	for _, s := range statuses {
		ids = append(ids, first(n, in.Down(tx, listKey(u, s), before))...)
	}
	slices.SortFunc(ids, func(a, b []byte) int { return cmp.Compare(string(b), string(a)) })
	return ids
}

// first collects up to n keys.
func first(n int, keys iter.Seq[[]byte]) (some [][]byte) {
	for key := range keys {
		if len(some) >= n {
			break
		}
		some = append(some, key)
	}
	return some
}

// Ended implements [imagegen.Store]. Identifiers rise with time, so it stops at the first record that was
// created too late to have ended by then. A record that cannot be read is passed over; an audit finds it.
func (t *Tables) Ended(ctx context.Context, age time.Duration, n int) ([]imagegen.Record, error) {
	by := t.books.Read().Now.Add(-age)
	return view(ctx, t.db, func(tx kv.Tx) (old []imagegen.Record, err error) {
		for id := range ended.Keys(tx, nil) {
			if len(old) >= n {
				break
			}
			r, err := ended.Get(tx, id)
			if err == nil && r.CreatedAt.After(by) {
				break // so are all that follow
			}
			if err == nil && !r.CompletedAt.After(by) { // else it took long: later ones may have ended before it
				old = append(old, r.Record)
			}
		}
		return old, nil
	})
}

// Forgettable implements [imagegen.Store]. A record that cannot be read is passed over.
func (t *Tables) Forgettable(ctx context.Context, s imagegen.State, age time.Duration, n int) ([]imagegen.Fence, error) {
	by := t.books.Read().Now.Add(-age)
	in := prompts
	if s == imagegen.StateErased {
		in = hashes
	}
	return view(ctx, t.db, func(tx kv.Tx) (fences []imagegen.Fence, err error) {
		for id := range in.Keys(tx, nil) {
			r, err := in.Get(tx, id)
			if len(fences) >= n || err == nil && r.CompletedAt.After(by) {
				break
			}
			if err == nil {
				fences = append(fences, r.Fence())
			}
		}
		return fences, nil
	})
}

// maxUndelivered bounds what Undelivered returns.
const maxUndelivered = 100

// Undelivered implements [imagegen.Store]. It reads downwards, so that of more than maxUndelivered the newest come.
func (t *Tables) Undelivered(ctx context.Context, u imagegen.UserID, joinKey [32]byte) ([]imagegen.Record, error) {
	return view(ctx, t.db, func(tx kv.Tx) ([]imagegen.Record, error) {
		ids := first(maxUndelivered, undelivered.Down(tx, kv.Key(string(u), joinKey[:]), nil))
		slices.Reverse(ids)
		return records(undelivered.Values(tx, slices.Values(ids)))
	})
}
