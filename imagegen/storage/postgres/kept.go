package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// keptDB is a kv.DB over the rows in kept: users, keys, logins, sign-ins and the trail, which package tables and
// package trail keep as in the default storage. Generations and the ledger have tables of their own.
type keptDB struct{ db *DB }

var _ kv.DB = keptDB{}

// View implements kv.DB.
func (k keptDB) View(ctx context.Context, f func(kv.Tx) error) error {
	return k.db.view(ctx, func(s *session) error { return f(&s.kept) })
}

// Update implements kv.DB. Its transactions run one after the other, on whichever node: rows in kept are read without
// locks, since the lock of all acts takes their place.
func (k keptDB) Update(ctx context.Context, f func(kv.Tx) error) error {
	return k.db.update(ctx, func(s *session) error { return f(&s.kept) })
}

// kept is a kv.Tx. What it writes is sent with the other writes of the session, or before it next goes over rows, which
// must see it. Reads look at what was written first, then at what was read beforehand, and then ask the database, one
// round trip each.
type kept struct {
	*session
	// written is what was written and not yet sent; nil: it was removed.
	written map[place][]byte
	// values is what was read beforehand; nil: there is no such value. A write takes its place out.
	values map[place][]byte
	// entries has, for a place in an index, the first key that begins as the place does; nil: no key does. A write
	// empties it, since it might have led elsewhere.
	entries map[place][]byte
}

// AwaitCharges implements kv.ChargeAwaiter. A charge takes the lock of the account before it looks at users and keys,
// and keeps it until it has committed. No act can be in the way of another here, since it has the lock of all acts.
func (k *kept) AwaitCharges(accounts ...imagegen.UserID) {
	k.exec(`select from imagegend.accounts where usr = any($1) order by usr for update`, unique(accounts))
}

// place is a kv.Place that a map can have as its key.
type place struct {
	bucket kv.Bucket
	key    string
}

var (
	_ kv.Tx            = (*kept)(nil)
	_ kv.ChargeAwaiter = (*kept)(nil)
)

// Get implements kv.Tx.
func (k *kept) Get(b kv.Bucket, key []byte) (value []byte) {
	at := place{b, string(key)}
	if v, known := k.written[at]; known {
		return v
	}
	if v, known := k.values[at]; known {
		return v
	}
	k.scan(func() {}, []any{&value}, `select value from imagegend.kept where bucket = $1 and key = $2`, string(b),
		bytesOf(key))
	return value
}

// Put implements kv.Tx.
func (k *kept) Put(b kv.Bucket, key, value []byte) {
	k.writePlace(place{b, string(key)}, value)
}

// Delete implements kv.Tx.
func (k *kept) Delete(b kv.Bucket, key []byte) {
	k.writePlace(place{b, string(key)}, nil)
}

func (k *kept) writePlace(at place, value []byte) {
	k.changes++
	k.entries = nil
	if k.written == nil {
		k.written = make(map[place][]byte)
	}
	k.written[at] = value
	delete(k.values, at)
}

// flush queues what was written since the last flush: an upsert of all values, and one deletion. A place is in one of
// the two only, so their order does not matter.
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
		to.buckets, to.keys, to.values = append(to.buckets, string(at.bucket)), append(to.keys, []byte(at.key)),
			append(to.values, value)
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

// atOnce is the most rows that a walk reads at once. It begins with few, since most walks look for one or two.
const atOnce = 1000

// Ascend implements kv.Tx.
func (k *kept) Ascend(b kv.Bucket, from []byte, f func(key, value []byte) bool) {
	k.walk(`select key, value from imagegend.kept where bucket = $1 and key >= $2 order by key limit $3`, b, from, f,
		func(last []byte) []byte { return append(slices.Clone(last), 0) })
}

// Keys implements kv.Tx. It reads no values. Where the first key was read beforehand, and there is none that begins as
// from does, the walk ends at once, although there may be others behind: a caller that asks for such a place looks for
// nothing else (Index.First).
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
	if before == nil { // no key is below the empty one, which here means from the end
		below = `select key, value from imagegend.kept where bucket = $1 and ($2::bytea = '' or key < $2) order by key desc limit $3`
	}
	k.walk(below, b, before, f, slices.Clone[[]byte])
}

// walk calls f for the rows of a query until f returns false or there are no more. It sends what was written first.
// next says where to go on behind the last key of a page. f runs between queries, so that it may read.
func (k *kept) walk(sql string, b kv.Bucket, from []byte, f func(key, value []byte) bool,
	next func(last []byte) []byte) {
	if len(k.written) > 0 {
		var writes pgx.Batch
		k.flush(&writes)
		k.must(k.send(&writes))
	}
	type pair struct{ key, value []byte }
	for n := 8; ; n = min(4*n, atOnce) {
		var page []pair
		var p pair
		k.scan(func() { page = append(page, p) }, []any{&p.key, &p.value}, sql, string(b), bytesOf(from), n)
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

// ReadAhead reads what will be asked for next in one round trip, and forgets what was read ahead before; an audit of
// the tables uses it (package table). Places without a value are noted as well.
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
	var bucket string
	var key, value []byte
	k.scan(func() { k.values[place{kv.Bucket(bucket), string(key)}] = value }, []any{&bucket, &key, &value},
		`select k.bucket, k.key, k.value from unnest($1::text[], $2::bytea[]) x(bucket, key) join imagegend.kept k on k.bucket = x.bucket and k.key = x.key`, buckets, keys)
}

// bytesOf returns b, or an empty slice for nil, which would be NULL in a query and compare with nothing.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// queueAskers queues reads of the users and keys whose standing calls look at. A key lies under the hash of its secret,
// and calls know its identifier, so it is found by its index in the same statement: the first entry behind the
// identifier names the value.
func (k *kept) queueAskers(b *pgx.Batch, n need) {
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
	k.queue(b, users,
		`select bucket, key, value, null::bytea, null::bytea from imagegend.kept where bucket = $1 and key = any($2)`,
		string(tables.UserPlace("").Bucket), users)
	entry, values := tables.KeyPlace("")
	for _, id := range n.keys {
		p, _ := tables.KeyPlace(id)
		k.entries[place{p.Bucket, string(p.Key)}] = nil
		prefixes = append(prefixes, p.Key)
	}
	// The laterals with limits are a plan that the planner cannot turn round. For a plain join it would read every key
	// for each that is asked for, where its statistics are old and know of few keys. An entry ends with the length of
	// the value's key in two bytes, which the substring leaves out.
	k.queue(b, prefixes, `select $3::text, v.key, v.value, e.key, p.prefix from unnest($2::bytea[]) p(prefix)
 cross join lateral (select key from imagegend.kept where bucket = $1 and key >= p.prefix order by key limit 1) e
 cross join lateral (select key, value from imagegend.kept where bucket = $3 and key = substring(e.key from length(p.prefix) + 1 for greatest(0, length(e.key) - length(p.prefix) - 2)) limit 1) v
 where substring(e.key for length(p.prefix)) = p.prefix`, string(entry.Bucket), prefixes, string(values))
}

// askHead queues the read of the trail's end, which most acts go on from, in the statement behind the one that locks
// all acts: read earlier, it could be somebody else's former end.
func (k *kept) askHead(b *pgx.Batch) {
	bucket, key := trail.Head()
	at := place{bucket, string(key)}
	k.values = map[place][]byte{at: nil}
	b.Queue(`select value from imagegend.kept where bucket = $1 and key = $2`, string(bucket), key).
		Query(func(rows pgx.Rows) error {
			var value []byte
			return each(rows, func() error { k.values[at] = value; return nil }, &value)
		})
}

// queue queues a query for values in kept, if anything is asked for. Its rows may have an index entry beside the value,
// with the place that it was looked for under.
func (k *kept) queue(b *pgx.Batch, asked [][]byte, sql string, args ...any) {
	if len(asked) == 0 {
		return
	}
	index, _ := tables.KeyPlace("")
	b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		var bucket string
		var key, value, entry, prefix []byte
		return each(rows, func() error {
			k.values[place{kv.Bucket(bucket), string(key)}] = value
			if entry != nil {
				k.entries[place{index.Bucket, string(prefix)}] = entry
			}
			return nil
		}, &bucket, &key, &value, &entry, &prefix)
	})
}
