package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

var inTotals = newKind("generation_totals", 5, `day date, model text, payer text, usr text, key text,
 generations bigint, images bigint, spent bigint, attempts bigint, unknown bigint, cost bigint`,
	func(r *imagegen.TotalsRow) []any {
		return []any{&r.Day, &r.Model, &r.Payer, &r.User, &r.Key, &r.Generations, &r.Images, &r.Spent, &r.Attempts,
			&r.Unknown, &r.Cost}
	})

// flushTotals adds to the totals what the changed generations count for more than before. The rows are locked in the
// order of their keys, so that no two transactions wait for each other.
func (s *session) flushTotals(b *pgx.Batch) {
	changes := make(map[imagegen.TotalsKey]imagegen.Totals)
	for _, g := range s.rows {
		if change := g.Totals().Minus(g.was.Totals()); g.changed && change != (imagegen.Totals{}) {
			changes[g.TotalsKey()] = changes[g.TotalsKey()].Plus(change)
		}
	}
	var rows []*imagegen.TotalsRow
	for k, t := range changes {
		rows = append(rows, &imagegen.TotalsRow{TotalsKey: k, Totals: t})
	}
	inTotals.queue(b, rows, addTotals)
}

// addTotals adds rows to those with their keys.
var addTotals = inTotals.inserts + ` order by day, model, payer, usr, key
 on conflict (day, model, payer, usr, key) do update set generations = t.generations + excluded.generations,
 images = t.images + excluded.images, spent = t.spent + excluded.spent, attempts = t.attempts + excluded.attempts,
 unknown = t.unknown + excluded.unknown, cost = t.cost + excluded.cost`

// EachTotals implements [imagegen.TotalsKeeper]. Each page is a transaction of its own.
func (db *DB) EachTotals(ctx context.Context, from, to time.Time, f func(imagegen.TotalsRow)) error {
	for after, more := (imagegen.TotalsKey{Day: from}), true; more; {
		err := db.view(ctx, func(s *session) error {
			after, more = s.totalsBehind(after, to, f)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// totalsAtOnce is how many totals are read at once.
const totalsAtOnce = 10_000

// totalsBehind calls f for a page of the totals behind a key, and returns the last one's; more: others follow.
func (s *session) totalsBehind(after imagegen.TotalsKey, to time.Time,
	f func(imagegen.TotalsRow)) (last imagegen.TotalsKey, more bool) {
	n := 0
	read(s, inTotals.scan, func(r *imagegen.TotalsRow) { n++; last = r.TotalsKey; f(*r) },
		inTotals.from()+` where (day, model, payer, usr, key) > ($1, $2, $3, $4, $5) and day <= $6
 order by day, model, payer, usr, key limit $7`,
		after.Day, after.Model, after.Payer, after.User, after.Key, to, totalsAtOnce)
	return last, n == totalsAtOnce
}

// lessTotals takes the totals off the sums of an audit.
func (s *session) lessTotals(sums rules.Totals) {
	for after, more := (imagegen.TotalsKey{Day: time.Unix(0, 0)}), true; more; {
		after, more = s.totalsBehind(after, time.Unix(1<<36, 0), func(r imagegen.TotalsRow) {
			sums.Add(r.TotalsKey, imagegen.Totals{}.Minus(r.Totals))
		})
	}
}
