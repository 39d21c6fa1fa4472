package tables

import (
	"bytes"
	"cmp"
	"context"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

var _ imagegen.Inspector = (*Tables)(nil)

// mostNames is how many names one page of users looks at.
const mostNames = 100_000

// UserPage implements [imagegen.Inspector].
func (t *Tables) UserPage(ctx context.Context, q imagegen.UserQuery) (imagegen.UserPage, error) {
	return view(ctx, t.db, func(tx kv.Tx) (p imagegen.UserPage, err error) {
		ids, next := namesPage(tx, q, cmp.Or(q.Limit, imagegen.DefaultPageSize))
		p = imagegen.UserPage{Users: make([]imagegen.User, len(ids)), Next: next}
		for i, id := range ids {
			if p.Users[i], err = loadUser(tx, id); err != nil {
				return p, err
			}
		}
		return p, nil
	})
}

// namesPage finds up to n users of a query, and the name behind which others may follow.
func namesPage(tx kv.Tx, q imagegen.UserQuery, n int) (ids []imagegen.UserID, next string) {
	after, last, seen := kv.Key(q.After), "", 0
	tx.Ascend(userNames, after, func(key, id []byte) bool {
		if bytes.Equal(key, after) {
			return true
		}
		name := string(bytes.TrimSuffix(key, []byte{0}))
		match := q.Matches(name)
		if match && len(ids) == n || seen == mostNames {
			next = last
			return false
		}
		if match {
			ids = append(ids, imagegen.UserID(id))
		}
		last = name
		seen++
		return true
	})
	return ids, next
}

// Disputed implements [imagegen.Inspector].
func (t *Tables) Disputed(ctx context.Context, after imagegen.GenerationID, n int) (records []imagegen.Record, total int, err error) {
	err = t.db.View(ctx, func(tx kv.Tx) error {
		records, total = nil, 0
		tx.Keys(disputed, nil, func(key []byte) bool {
			total++
			id := imagegen.GenerationID(key)
			if id <= after || len(records) >= n {
				return true
			}
			var r row
			if r, err = indexed(tx, disputed, id); err == nil {
				records = append(records, r.Record)
			}
			return err == nil
		})
		return err
	})
	return records, total, err
}

// Unsettled implements [imagegen.Inspector]. Identifiers rise with time.
func (t *Tables) Unsettled(ctx context.Context, after imagegen.GenerationID, n int) (records []imagegen.Record, total int, err error) {
	err = t.db.View(ctx, func(tx kv.Tx) error {
		var ids []imagegen.GenerationID
		if ids, total, err = unsettled(tx, after, n); err != nil {
			return err
		}
		records, err = loadAll(tx, open, ids)
		return err
	})
	return records, total, err
}

// unsettled finds the first n behind after, and counts them all. It reads no prompt.
func unsettled(tx kv.Tx, after imagegen.GenerationID, n int) (ids []imagegen.GenerationID, total int, err error) {
	tx.Ascend(open, nil, func(key, progress []byte) bool {
		r := row{Record: imagegen.Record{Intent: imagegen.Intent{ID: imagegen.GenerationID(key)}}}
		if err = r.decodeProgress(progress); err != nil || !r.Unsettled() {
			return err == nil
		}
		total++
		if r.ID > after && len(ids) < n {
			ids = append(ids, r.ID)
		}
		return true
	})
	return ids, total, err
}
