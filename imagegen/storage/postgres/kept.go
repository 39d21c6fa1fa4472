package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// keptDB is a kv.DB over the rows in kept: for what operators and browsers write, not for generations.
type keptDB struct{ db *DB }

var _ kv.DB = keptDB{}

// View implements kv.DB.
func (k keptDB) View(ctx context.Context, f func(kv.Tx) error) error {
	return k.db.view(ctx, func(s *session) error { return f(&s.kept) })
}

// Update implements kv.DB. Transactions run one after the other, on whichever node.
func (k keptDB) Update(ctx context.Context, f func(kv.Tx) error) error {
	return k.db.update(ctx, func(s *session) error { return f(&s.kept) })
}

// kept is a kv.Tx. It writes at the end, or before it goes over rows; what was read beforehand is found without asking.
type kept struct {
	*session
	written map[place][]byte // and not yet sent; nil: removed
	values  map[place][]byte // that were read; nil: there is none
	entries map[place][]byte // the first key at or behind a place that begins as it does
}

type place struct {
	bucket kv.Bucket
	key    string
}

var _ kv.Tx = (*kept)(nil)

// Get implements kv.Tx.
func (k *kept) Get(b kv.Bucket, key []byte) (value []byte) {
	at := place{b, string(key)}
	if v, known := k.written[at]; known {
		return v
	}
	if v, known := k.values[at]; known {
		return v
	}
	k.query(func(rows pgx.Rows) error { return each(rows, func() error { return nil }, &value) },
		`select value from imagegend.kept where bucket = $1 and key = $2`, string(b), bytesOf(key))
	return value
}

// Put implements kv.Tx.
func (k *kept) Put(b kv.Bucket, key, value []byte) {
	k.write(place{b, string(key)}, value)
}

// Delete implements kv.Tx.
func (k *kept) Delete(b kv.Bucket, key []byte) {
	k.write(place{b, string(key)}, nil)
}

func (k *kept) write(at place, value []byte) {
	k.changes++
	k.entries = nil // which may lead elsewhere now
	if k.written == nil {
		k.written = make(map[place][]byte)
	}
	k.written[at] = value
	delete(k.values, at)
}

// flush queues what was written.
func (k *kept) flush(b *pgx.Batch) {
	var in, out struct {
		buckets []string
		keys    [][]byte
		values  [][]byte
	}
	for at, value := range k.written {
		to := &out
		if value != nil {
			to = &in
		}
		to.buckets, to.keys, to.values = append(to.buckets, string(at.bucket)), append(to.keys, []byte(at.key)), append(to.values, value)
	}
	if len(in.keys) > 0 {
		b.Queue(`insert into imagegend.kept select * from unnest($1::text[], $2::bytea[], $3::bytea[]) on conflict (bucket, key) do update set value = excluded.value`,
			in.buckets, in.keys, in.values)
	}
	if len(out.keys) > 0 {
		b.Queue(`delete from imagegend.kept k using unnest($1::text[], $2::bytea[]) x(bucket, key) where k.bucket = x.bucket and k.key = x.key`, out.buckets, out.keys)
	}
	k.written = nil
}

// atOnce is how many rows a walk reads at once, at most.
const atOnce = 1000

// Ascend implements kv.Tx.
func (k *kept) Ascend(b kv.Bucket, from []byte, f func(key, value []byte) bool) {
	k.walk(`select key, value from imagegend.kept where bucket = $1 and key >= $2 order by key limit $3`, b, from, f,
		func(last []byte) []byte { return append(slices.Clone(last), 0) })
}

// Keys implements kv.Tx.
func (k *kept) Keys(b kv.Bucket, from []byte, f func(key []byte) bool) {
	if first, known := k.entries[place{b, string(from)}]; known {
		if first == nil || !f(first) {
			return
		}
		from = append(slices.Clone(first), 0)
	}
	k.walk(`select key, ''::bytea from imagegend.kept where bucket = $1 and key >= $2 order by key limit $3`, b, from,
		func(key, _ []byte) bool { return f(key) }, func(last []byte) []byte { return append(slices.Clone(last), 0) })
}

// Descend implements kv.Tx.
func (k *kept) Descend(b kv.Bucket, before []byte, f func(key, value []byte) bool) {
	below := `select key, value from imagegend.kept where bucket = $1 and key < $2 order by key desc limit $3`
	if before == nil { // whatever the key is, it is not below the empty one
		below = `select key, value from imagegend.kept where bucket = $1 and ($2::bytea = '' or key < $2) order by key desc limit $3`
	}
	k.walk(below, b, before, f, slices.Clone[[]byte])
}

// walk calls f for rows, of which it reads few at first.
func (k *kept) walk(sql string, b kv.Bucket, from []byte, f func(key, value []byte) bool, next func(last []byte) []byte) {
	if len(k.written) > 0 {
		var writes pgx.Batch
		k.flush(&writes)
		k.must(k.send(&writes))
	}
	type pair struct{ key, value []byte }
	for n := 8; ; n = min(4*n, atOnce) {
		var page []pair
		k.query(func(rows pgx.Rows) error {
			for rows.Next() {
				var p pair
				if err := rows.Scan(&p.key, &p.value); err != nil {
					return err
				}
				page = append(page, p)
			}
			return nil
		}, sql, string(b), bytesOf(from), n)
		for _, p := range page {
			if !f(p.key, p.value) {
				return
			}
		}
		if len(page) < n {
			return
		}
		from = next(page[len(page)-1].key)
	}
}

// ReadAhead reads what is asked for next, one round trip.
func (k *kept) ReadAhead(all []kv.Place) {
	k.values = make(map[place][]byte, len(all))
	var buckets []string
	var keys [][]byte
	for _, p := range all {
		k.values[place{p.Bucket, string(p.Key)}] = nil
		buckets, keys = append(buckets, string(p.Bucket)), append(keys, bytesOf(p.Key))
	}
	if len(all) == 0 {
		return
	}
	k.query(func(rows pgx.Rows) error {
		for rows.Next() {
			var bucket string
			var key, value []byte
			if err := rows.Scan(&bucket, &key, &value); err != nil {
				return err
			}
			k.values[place{kv.Bucket(bucket), string(key)}] = value
		}
		return nil
	}, `select k.bucket, k.key, k.value from unnest($1::text[], $2::bytea[]) x(bucket, key) join imagegend.kept k on k.bucket = x.bucket and k.key = x.key`, buckets, keys)
}

// bytesOf is never nil, which would be NULL.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// ask reads beforehand the users, and the keys, of whom a call asks.
func (k *kept) ask(b *pgx.Batch, n need) {
	if len(n.askers) == 0 && len(n.keys) == 0 {
		return
	}
	if k.values == nil {
		k.values = make(map[place][]byte)
	}
	k.entries = make(map[place][]byte)
	var users, prefixes [][]byte
	for _, u := range n.askers {
		p := tables.UserPlace(u)
		k.values[place{p.Bucket, string(p.Key)}] = nil
		users = append(users, p.Key)
	}
	k.queue(b, users, `select bucket, key, value, null::bytea, null::bytea from imagegend.kept where bucket = $1 and key = any($2)`, string(tables.UserPlace("").Bucket), users)
	entry, values := tables.KeyPlace("")
	for _, id := range n.keys {
		p, _ := tables.KeyPlace(id)
		k.entries[place{p.Bucket, string(p.Key)}] = nil
		prefixes = append(prefixes, p.Key)
	}
	// Joined plainly, where old statistics know of few keys, every key would be read for each that is asked for.
	k.queue(b, prefixes, `select $3::text, v.key, v.value, e.key, p.prefix from unnest($2::bytea[]) p(prefix)
 cross join lateral (select key from imagegend.kept where bucket = $1 and key >= p.prefix order by key limit 1) e
 cross join lateral (select key, value from imagegend.kept where bucket = $3 and key = substring(e.key from length(p.prefix) + 1 for greatest(0, length(e.key) - length(p.prefix) - 2)) limit 1) v
 where substring(e.key for length(p.prefix)) = p.prefix`, string(entry.Bucket), prefixes, string(values))
}

// askHead reads beforehand what an act puts its row behind.
func (k *kept) askHead(b *pgx.Batch) {
	bucket, key := trail.Head()
	at := place{bucket, string(key)}
	k.values = map[place][]byte{at: nil}
	b.Queue(`select value from imagegend.kept where bucket = $1 and key = $2`, string(bucket), key).Query(func(rows pgx.Rows) error {
		var value []byte
		return each(rows, func() error { k.values[at] = value; return nil }, &value)
	})
}

func (k *kept) queue(b *pgx.Batch, asked [][]byte, sql string, args ...any) {
	if len(asked) == 0 {
		return
	}
	index, _ := tables.KeyPlace("")
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var bucket string
			var key, value, entry, prefix []byte
			if err := rows.Scan(&bucket, &key, &value, &entry, &prefix); err != nil {
				return err
			}
			k.values[place{kv.Bucket(bucket), string(key)}] = value
			if entry != nil {
				k.entries[place{index.Bucket, string(prefix)}] = entry
			}
		}
		return rows.Err()
	})
}
