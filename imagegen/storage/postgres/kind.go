package postgres

import (
	"fmt"
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
}

// newKind takes the columns as SQL declares them, without what constrains them: "id text, created_at timestamptz".
func newKind[V any](table string, keys int, columns string, cells func(*V) []any) kind[V] {
	k := kind[V]{table: "imagegend." + table, keys: keys, cells: cells}
	for c := range strings.SplitSeq(columns, ",") {
		name, kind, _ := strings.Cut(strings.TrimSpace(c), " ")
		k.columns, k.types = append(k.columns, name), append(k.types, kind)
	}
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

// unnested is a source of rows with these columns: a list for each.
func (k kind[V]) unnested(all []*V) (source string, lists []any) {
	lists = make([]any, len(k.columns))
	for _, v := range all {
		for i, cell := range k.cells(v) {
			list, _ := lists[i].([]any)
			lists[i] = append(list, cell)
		}
	}
	var places []string
	for i, t := range k.types {
		places = append(places, fmt.Sprintf("$%d::%s[]", i+1, t))
	}
	return "unnest(" + strings.Join(places, ", ") + ") x(" + strings.Join(k.columns, ", ") + ")", lists
}

// insert queues the insertion of rows that are not there.
func (k kind[V]) insert(b *pgx.Batch, all []*V) *pgx.QueuedQuery {
	source, lists := k.unnested(all)
	return b.Queue("insert into "+k.table+" ("+strings.Join(k.columns, ", ")+") select * from "+source, lists...)
}

// put queues rows that are inserted, or take the place of those with their keys.
func (k kind[V]) put(b *pgx.Batch, all []*V) {
	var set []string
	for _, c := range k.columns[k.keys:] {
		set = append(set, c+" = excluded."+c)
	}
	q := k.insert(b, all)
	q.SQL += " on conflict (" + strings.Join(k.columns[:k.keys], ", ") + ") do update set " + strings.Join(set, ", ")
}

// optional is a text that is NULL if it is empty.
type optional[S ~string] struct{ of *S }

func orNull[S ~string](of *S) optional[S] { return optional[S]{of} }

// TextValue implements pgtype.TextValuer.
func (o optional[S]) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: string(*o.of), Valid: *o.of != ""}, nil
}

// ScanText implements pgtype.TextScanner.
func (o optional[S]) ScanText(t pgtype.Text) error {
	*o.of = S(t.String)
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
