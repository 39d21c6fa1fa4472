package postgres

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// keptDB is a kv.DB over the tables of users, keys, sign-ins and the trail: so package tables and package trail have
// the rules of all storages. Generations and the ledger have tables of their own.
type keptDB struct{ db *DB }

var _ kv.DB = keptDB{}

// View implements kv.DB.
func (k keptDB) View(ctx context.Context, f func(kv.Tx) error) error {
	return k.db.view(ctx, func(s *session) error { return f(&s.kept) })
}

// Update implements kv.DB. Rows are read without locks, since the lock of all acts takes their place.
func (k keptDB) Update(ctx context.Context, f func(kv.Tx) error) error {
	return k.db.act(ctx, acts, need{}, func(s *session) error { return f(&s.kept) })
}

// kept is a kv.Tx whose buckets are the shelves. What it writes is sent with the other writes of the session, or before
// it next goes over rows, which must see it. Reads look at what was written first, then at what was read before, and
// then ask the database, one round trip each.
type kept struct {
	*session
	written map[place][]byte // and not yet sent; nil: it was removed
	values  map[place][]byte // what was read; nil: there is no such value. A write takes its place out
	ahead   bool             // written has what is not chained yet, see readAhead
}

// AwaitCharges implements kv.ChargeAwaiter. A charge takes the lock of the account before it looks at users and keys,
// and keeps it until it has committed. No act can be in the way of another here, since it has the lock of all acts.
func (k *kept) AwaitCharges(accounts ...imagegen.UserID) {
	named := slices.DeleteFunc(accounts, func(u imagegen.UserID) bool { return u == "" })
	k.lock(func(pgx.Rows) error { return nil }, `select from imagegend.accounts where usr = any($1) order by usr for update`, named...)
}

// place is where a value lies, as a map can have it as its key.
type place struct {
	bucket kv.Bucket
	key    string
}

var (
	_ table.Deriver    = (*kept)(nil)
	_ kv.ChargeAwaiter = (*kept)(nil)
)

// Derives implements table.Deriver.
func (k *kept) Derives() {}

// Get implements kv.Tx.
func (k *kept) Get(b kv.Bucket, key []byte) []byte {
	at := place{b, string(key)}
	if !k.writes && b == trail.Ends {
		k.readAhead()
	}
	if v, known := k.written[at]; known {
		return v
	}
	if _, known := k.values[at]; !known {
		k.note(at, nil)
		shelves[b].read(k, key)
	}
	return k.values[at]
}

// note notes a value that was read.
func (k *kept) note(at place, value []byte) {
	if k.values == nil {
		k.values = make(map[place][]byte)
	}
	k.values[at] = value
}

// Put implements kv.Tx.
func (k *kept) Put(b kv.Bucket, key, value []byte) { k.writePlace(place{b, string(key)}, value) }

// Delete implements kv.Tx.
func (k *kept) Delete(b kv.Bucket, key []byte) { k.writePlace(place{b, string(key)}, nil) }

func (k *kept) writePlace(at place, value []byte) {
	k.changes++
	if k.written == nil {
		k.written = make(map[place][]byte)
	}
	k.written[at] = value
	delete(k.values, at)
}

// flush queues what was written since the last flush.
func (k *kept) flush(b *pgx.Batch) {
	values := make(map[kv.Bucket][]place)
	for at := range k.written {
		values[at.bucket] = append(values[at.bucket], at)
	}
	for bucket, places := range values {
		shelves[bucket].write(k, b, places)
	}
	k.written = nil
}

// Ascend implements kv.Tx.
func (k *kept) Ascend(b kv.Bucket, from []byte, f func(key, value []byte) bool) {
	k.walk(b, from, false, f)
}

// Keys implements kv.Tx. What it reads serves Get, too.
func (k *kept) Keys(b kv.Bucket, from []byte, f func(key []byte) bool) {
	k.walk(b, from, false, func(key, _ []byte) bool { return f(key) })
}

// Descend implements kv.Tx.
func (k *kept) Descend(b kv.Bucket, before []byte, f func(key, value []byte) bool) {
	k.walk(b, before, true, f)
}

// walk goes over a bucket, or an index. It sends what was written first.
func (k *kept) walk(b kv.Bucket, from []byte, down bool, f func(key, value []byte) bool) {
	if !k.writes && (b == trail.Rows || b == trail.Ends) {
		k.readAhead()
		k.walkAhead(b, from, down, f)
		return
	}
	if k.writes && len(k.written) > 0 {
		var writes pgx.Batch
		k.flush(&writes)
		k.must(k.send(&writes))
	}
	of := shelves[b]
	if of == nil {
		of = shelves[b[:strings.LastIndex(string(b), ".")]]
	}
	of.walk(k, b, from, down, f)
}

// shelf is where the values of a bucket lie.
type shelf interface {
	read(k *kept, key []byte)                 // notes a value
	write(k *kept, b *pgx.Batch, all []place) // queues writes and deletions
	walk(k *kept, b kv.Bucket, from []byte, down bool, f func(key, value []byte) bool)
	round(key, stored []byte) ([]byte, error) // returns a value as it is once it was written
}

// shelfOf keeps values of a type in columns.
type shelfOf[V any] struct {
	kind[V]
	bucket kv.Bucket
	key    func(*V) []byte
	parts  func(key []byte) []any // undoes key: the values of the key's columns, or of the first of them
	encode func(*V) []byte
	decode func(key, stored []byte) (V, error)
	orders map[kv.Bucket]order[V] // of the bucket and its indexes
	only   string                 // the condition for a row to be of this bucket; "": all are
}

// order is one in which values are gone over.
type order[V any] struct {
	columns []string
	entry   func(*V) []byte // the key that a value has there
}

// keep returns the shelf of a table, whose keys consist of texts or, with hashed, are one array of bytes. The columns
// of an index are those that its places consist of.
func keep[V any](t *table.Table[V], k kind[V], parts func([]byte) []any,
	indexes map[*table.Index[V]]string) *shelfOf[V] {
	s := plain(t.Name(), k, t.Key, parts, t.Encode, func(_, stored []byte) (V, error) { return t.Decode(stored) })
	for i, columns := range indexes {
		s.orders[i.Name()] = order[V]{append(strings.Split(columns, " "), k.columns[:k.keys]...), i.Entry}
	}
	return s
}

// texts are the texts that a key consists of.
func texts(key []byte) (parts []any) {
	for part := range strings.SplitSeq(strings.TrimSuffix(string(key), "\x00"), "\x00") {
		parts = append(parts, part)
	}
	return parts
}

// allStorable reports whether the database can have all texts among some values.
func allStorable(parts []any) bool {
	return !slices.ContainsFunc(parts, func(p any) bool {
		text, _ := p.(string)
		return !storable(text)
	})
}

// whole is a key of one column of bytes.
func whole(key []byte) []any { return []any{key} }

// take notes the values of a query.
func (s *shelfOf[V]) take(k *kept, each func(*V, []byte)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		return s.scan(rows, func(v *V) {
			value := s.encode(v)
			k.note(place{s.bucket, string(s.key(v))}, value)
			each(v, value)
		})
	}
}

func (s *shelfOf[V]) round(key, stored []byte) ([]byte, error) {
	v, err := s.decode(key, stored)
	inMicroseconds(reflect.ValueOf(&v))
	return s.encode(&v), err
}

func (s *shelfOf[V]) read(k *kept, key []byte) {
	if parts := s.parts(key); len(parts) == s.keys && allStorable(parts) {
		k.query(s.take(k, func(*V, []byte) {}), s.from()+s.keyed(), parts...)
	}
}

// keyed is the condition for a key.
func (s *shelfOf[V]) keyed() string {
	return " where " + compared(s.columns[:s.keys], "=", s.keys)
}

// compared compares the first n columns with as many parameters.
func compared(columns []string, op string, n int) string {
	var places []string
	for i := range n {
		places = append(places, fmt.Sprint("$", i+1))
	}
	return "(" + strings.Join(columns[:n], ", ") + ") " + op + " (" + strings.Join(places, ", ") + ")"
}

func (s *shelfOf[V]) write(k *kept, b *pgx.Batch, all []place) {
	var in []*V
	for _, at := range all {
		stored := k.written[at]
		if stored == nil {
			b.Queue("delete from "+s.table+s.keyed(), s.parts([]byte(at.key))...)
			continue
		}
		v, err := s.decode([]byte(at.key), stored)
		if err != nil {
			panic(kv.Damage{Err: err})
		}
		in = append(in, &v)
	}
	s.put(b, in)
}

// atOnce is the most rows that a walk reads at once. It begins with few, since most walks look for one or two.
const atOnce = 1000

// walk calls f for the values of an order until f returns false or there are no more. f runs between queries, so that
// it may read.
func (s *shelfOf[V]) walk(k *kept, b kv.Bucket, from []byte, down bool, f func(key, value []byte) bool) {
	o := s.orders[b]
	op, first, then, direction := ">=", ">=", ">", ""
	if down {
		first, then, direction = "<", "<", " desc"
	}
	var parts []any
	if len(from) > 0 {
		parts = s.parts(from)
		if b != s.bucket {
			parts = texts(from)
		}
	}
	if len(parts) > len(o.columns) || !allStorable(parts) {
		return // nothing is there, nor begins so
	}
	type found struct {
		v     *V
		value []byte
	}
	op = first
	for n := 8; ; n = min(4*n, atOnce) {
		sql := s.from() + " where " + cmp.Or(s.only, o.columns[0]+" is not null")
		if len(parts) > 0 {
			sql += " and " + compared(o.columns, op, len(parts))
		}
		var page []found
		k.query(s.take(k, func(v *V, value []byte) { page = append(page, found{v, value}) }), fmt.Sprintf(
			"%s order by %s%s limit %d", sql, strings.Join(o.columns, direction+", "), direction, n), parts...)
		for _, p := range page {
			if !f(o.entry(p.v), p.value) {
				return
			}
		}
		if len(page) < n {
			return
		}
		op, parts = then, s.values(page[n-1].v, o.columns)
	}
}

// values are those of some columns.
func (s *shelfOf[V]) values(v *V, columns []string) (values []any) {
	cells := s.cells(v)
	for _, c := range columns {
		values = append(values, cells[slices.Index(s.columns, c)])
	}
	return values
}
