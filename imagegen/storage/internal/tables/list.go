package tables

import (
	"bytes"
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
func (t *Tables) Generations(ctx context.Context, u imagegen.UserID,
	q imagegen.Query) (page []imagegen.Record, more bool, err error) {
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

// Ended implements [imagegen.Store].
func (t *Tables) Ended(ctx context.Context, age time.Duration, n int) ([]imagegen.Record, error) {
	return t.aged(ctx, ended, age, n)
}

// Forgettable implements [imagegen.Store].
func (t *Tables) Forgettable(ctx context.Context, s imagegen.State, age time.Duration,
	n int) (fences []imagegen.Fence, err error) {
	in := prompts
	if s == imagegen.StateErased {
		in = hashes
	}
	old, err := t.aged(ctx, in, age, n)
	for _, r := range old {
		fences = append(fences, r.Fence())
	}
	return fences, err
}

// aged returns up to n records that ended at least age ago, by an index of ends. It passes over a record that cannot be
// read; an audit finds it.
func (t *Tables) aged(ctx context.Context, in *table.Index[row], age time.Duration, n int) ([]imagegen.Record, error) {
	spans := t.books.Read().Aged(age)
	return view(ctx, t.db, func(tx kv.Tx) (old []imagegen.Record, err error) {
		for _, s := range spans {
			upTo := kv.Key(kv.TimeKey(s.UpTo))
			for e := range in.Entries(tx, kv.Key(kv.TimeKey(s.After)+1)) {
				if len(old) >= n || bytes.Compare(e.Under, upTo) > 0 {
					break
				}
				if r, err := in.Get(tx, e.Key); err == nil {
					old = append(old, r.Record)
				}
			}
		}
		return old, nil
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
