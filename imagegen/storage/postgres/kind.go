package postgres

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// kind is how values of one type lie in the columns of a table. It is said once, so what is read is what was written.
type kind[V any] struct {
	table   string
	keys    int      // how many columns, from the first on, are the primary key
	columns []string // their names
	types   []string
	cells   func(*V) []any // the value of each column: what it is written from, and what it is scanned into

	inserts, puts, updates string // statements, see write
}

// newKind takes the columns as SQL declares them, without what constrains them: "id text, created_at timestamptz".
func newKind[V any](table string, keys int, columns string, cells func(*V) []any) kind[V] {
	k := kind[V]{table: "imagegend." + table, keys: keys, cells: cells}
	for c := range strings.SplitSeq(columns, ",") {
		name, kind, _ := strings.Cut(strings.TrimSpace(c), " ")
		k.columns, k.types = append(k.columns, name), append(k.types, kind)
	}
	k.write()
	return k
}

// of lists the columns of a table that a query calls so.
func (k kind[V]) of(alias string) string {
	return alias + "." + strings.Join(k.columns, ", "+alias+".")
}

// from is a query for whole rows, but for its conditions.
func (k kind[V]) from() string { return "select " + k.of("t") + " from " + k.table + " t" }

// scan calls f for each row of a query for all columns.
func (k kind[V]) scan(rows pgx.Rows, f func(*V)) error {
	for rows.Next() {
		var v V
		if err := rows.Scan(k.cells(&v)...); err != nil {
			return err
		}
		f(&v)
	}
	return rows.Err()
}

// write makes the statements that write rows. They take a list for each column, see lists.
func (k *kind[V]) write() {
	var places, values, set, by []string
	for i, t := range k.types {
		c := k.columns[i]
		sent, value := t, c
		if sentAsText(t) {
			sent, value = "text", c+"::"+t
		}
		places, values = append(places, fmt.Sprintf("$%d::%s[]", i+1, sent)), append(values, value)
		if i < k.keys {
			by = append(by, "t."+c+" = x."+c)
		} else {
			set = append(set, c+" = x."+c)
		}
	}
	columns := " (" + strings.Join(k.columns, ", ") + ")"
	source := "(select " + strings.Join(values, ", ") + " from unnest(" + strings.Join(places, ", ") + ") x" + columns +
		") x" + columns
	changes := strings.Join(set, ", ")
	k.inserts = "insert into " + k.table + " as t" + columns + " select * from " + source
	k.puts = k.inserts + " on conflict (" + strings.Join(k.columns[:k.keys], ", ") + ") do update set " +
		strings.ReplaceAll(changes, " = x.", " = excluded.")
	k.updates = "update " + k.table + " t set " + changes + " from " + source + " where " + strings.Join(by, " and ")
}

// sentAsText reports whether values of a type are sent as texts: of arrays, since a list of arrays would be one of
// their elements, and where the type of a list does not follow from its elements.
func sentAsText(kind string) bool {
	return strings.HasSuffix(kind, "[]") || kind == "jsonb" || kind == "interval"
}

// lists are the values of rows, a list for each column. Their types are such that a pool knows how to send them which
// does not ask the database for the types of parameters.
func (k kind[V]) lists(all []*V) []any {
	rows := make([][]any, len(all))
	for i, v := range all {
		rows[i] = k.cells(v)
	}
	lists := make([]any, len(k.columns))
	for i, t := range k.types {
		switch {
		case t == "text" || sentAsText(t):
			lists[i] = column(rows, i, textOf)
		case t == "bigint" || t == "integer":
			lists[i] = column(rows, i, numberOf)
		case t == "boolean":
			lists[i] = column(rows, i, func(cell any) bool { return *cell.(*bool) })
		case t == "bytea":
			lists[i] = column(rows, i, bytesOf)
		case t == "date":
			lists[i] = column(rows, i, func(cell any) time.Time { return *cell.(*time.Time) })
		default:
			lists[i] = column(rows, i, func(cell any) *time.Time { return timeOrNull(*cell.(moment).of) })
		}
	}
	return lists
}

func column[T any](rows [][]any, i int, of func(any) T) []T {
	list := make([]T, len(rows))
	for n, row := range rows {
		list[n] = of(row[i])
	}
	return list
}

func textOf(cell any) pgtype.Text {
	switch cell := cell.(type) {
	case pgtype.TextValuer:
		v, _ := cell.TextValue()
		return v
	case *string:
		return pgtype.Text{String: *cell, Valid: true}
	case *[]string:
		form, _ := json.Marshal(cell)
		return pgtype.Text{String: string(form), Valid: len(*cell) > 0}
	case *options:
		form, _ := json.Marshal(cell)
		return pgtype.Text{String: string(form), Valid: true}
	}
	v := reflect.ValueOf(cell).Elem()
	if v.Kind() == reflect.Slice {
		return arrayOf(v)
	}
	return pgtype.Text{String: v.String(), Valid: true}
}

func numberOf(cell any) pgtype.Int8 {
	v := reflect.ValueOf(cell).Elem()
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return pgtype.Int8{}
	case v.Kind() == reflect.Pointer:
		v = v.Elem()
	}
	if v.CanUint() {
		return pgtype.Int8{Int64: int64(v.Uint()), Valid: true}
	}
	return pgtype.Int8{Int64: v.Int(), Valid: true}
}

func bytesOf(cell any) []byte {
	if b, plain := cell.(*[]byte); plain {
		return *b
	}
	v, _ := cell.(pgtype.BytesValuer).BytesValue()
	return v
}

// insert queues the insertion of rows that are not there.
func (k kind[V]) insert(b *pgx.Batch, all []*V) { k.queue(b, all, k.inserts) }

// put queues rows that are inserted, or take the place of those with their keys.
func (k kind[V]) put(b *pgx.Batch, all []*V) { k.queue(b, all, k.puts) }

// update queues rows that take the place of those with their keys, which are there.
func (k kind[V]) update(b *pgx.Batch, all []*V) { k.queue(b, all, k.updates) }

// queue queues a statement for rows; without any, nothing.
func (k kind[V]) queue(b *pgx.Batch, all []*V, sql string) {
	if len(all) > 0 {
		b.Queue(sql, k.lists(all)...)
	}
}

// optional is a text that is NULL if it is empty.
type optional[S ~string] struct{ Of *S }

func orNull[S ~string](of *S) optional[S] { return optional[S]{of} }

// TextValue implements pgtype.TextValuer. What upstreams write may hold what no text can.
func (o optional[S]) TextValue() (pgtype.Text, error) {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(*o.Of), ""), "\x00", "")
	return pgtype.Text{String: text, Valid: text != ""}, nil
}

// ScanText implements pgtype.TextScanner.
func (o optional[S]) ScanText(t pgtype.Text) error {
	*o.Of = S(t.String)
	return nil
}

// moment is a time in whole microseconds; the zero time is NULL.
type moment struct{ of *time.Time }

func at(of *time.Time) moment { return moment{of} }

// TimestamptzValue implements pgtype.TimestamptzValuer.
func (m moment) TimestamptzValue() (pgtype.Timestamptz, error) {
	return pgtype.Timestamptz{Time: *m.of, Valid: !m.of.IsZero()}, nil
}

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (m moment) ScanTimestamptz(t pgtype.Timestamptz) error {
	*m.of = time.Time{}
	if t.Valid {
		*m.of = t.Time.UTC()
	}
	return nil
}

// timeOrNull is a time as a parameter; the zero time is NULL.
func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// fixed is an array of bytes.
type fixed []byte

// BytesValue implements pgtype.BytesValuer.
func (f fixed) BytesValue() ([]byte, error) { return f, nil }

// ScanBytes implements pgtype.BytesScanner.
func (f fixed) ScanBytes(b []byte) error {
	if copy(f, b) != len(b) || len(b) != len(f) {
		return fmt.Errorf("postgres: %d bytes are to be %d", len(b), len(f))
	}
	return nil
}

// hash is an array of bytes that is NULL if it is zero.
type hash []byte

// BytesValue implements pgtype.BytesValuer.
func (h hash) BytesValue() ([]byte, error) {
	if slices.Max(h) == 0 {
		return nil, nil
	}
	return h, nil
}

// ScanBytes implements pgtype.BytesScanner.
func (h hash) ScanBytes(b []byte) error {
	if b == nil {
		clear(h)
		return nil
	}
	return fixed(h).ScanBytes(b)
}

// span is a duration in whole microseconds.
type span struct{ of *time.Duration }

// TextValue implements pgtype.TextValuer.
func (s span) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: fmt.Sprint(s.of.Microseconds(), " microseconds"), Valid: true}, nil
}

// ScanInterval implements pgtype.IntervalScanner.
func (s span) ScanInterval(v pgtype.Interval) error {
	*s.of = time.Duration(v.Microseconds) * time.Microsecond
	return nil
}

// arrayOf is a list as an array; an empty one is NULL.
func arrayOf(list reflect.Value) pgtype.Text {
	elements := make([]string, list.Len())
	for i := range elements {
		switch e := list.Index(i).Interface().(type) {
		case pgtype.Timestamptz:
			if elements[i] = "null"; e.Valid {
				elements[i] = e.Time.UTC().Format(`"2006-01-02 15:04:05.999999Z"`)
			}
		default:
			elements[i] = fmt.Sprint(e)
		}
	}
	return pgtype.Text{String: "{" + strings.Join(elements, ",") + "}", Valid: len(elements) > 0}
}

// inMicroseconds cuts each time and duration in a value to what a column keeps.
func inMicroseconds(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			inMicroseconds(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			inMicroseconds(v.Index(i))
		}
	case reflect.Struct:
		if t, ok := reflect.TypeAssert[time.Time](v); ok {
			v.Set(reflect.ValueOf(t.Truncate(time.Microsecond)))
			return
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				inMicroseconds(f)
			}
		}
	case reflect.Int64:
		if d, ok := reflect.TypeAssert[time.Duration](v); ok {
			v.SetInt(int64(d.Truncate(time.Microsecond)))
		}
	}
}
