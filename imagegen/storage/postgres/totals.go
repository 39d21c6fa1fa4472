package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// flushTotals adds to the totals what the changed generations count for more than before. The rows are locked in the
// order of their keys, so that no two transactions wait for each other.
func (s *session) flushTotals(b *pgx.Batch) {
	changes := make(map[imagegen.TotalsKey]imagegen.Totals)
	for _, g := range s.rows {
		if change := g.Totals().Minus(g.was.Totals()); g.changed && change != (imagegen.Totals{}) {
			changes[g.TotalsKey()] = changes[g.TotalsKey()].Plus(change)
		}
	}
	if len(changes) == 0 {
		return
	}
	var models, payers, users, keys []string
	var days []time.Time
	var generations, images, spent, attempts, unknown, cost []int64
	for k, t := range changes {
		days, models = append(days, k.Day), append(models, k.Model)
		payers = append(payers, string(k.Payer))
		users, keys = append(users, string(k.User)), append(keys, string(k.Key))
		generations, images = append(generations, int64(t.Generations)), append(images, int64(t.Images))
		spent, attempts = append(spent, int64(t.Spent)), append(attempts, int64(t.Attempts))
		unknown, cost = append(unknown, int64(t.Unknown)), append(cost, int64(t.Cost))
	}
	b.Queue(`insert into imagegend.generation_totals as t
 select * from unnest($1::date[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
 x(day, model, payer, usr, key, generations, images, spent, attempts, unknown, cost) order by day, model, payer, usr, key
 on conflict (day, model, payer, usr, key) do update set generations = t.generations + excluded.generations,
 images = t.images + excluded.images, spent = t.spent + excluded.spent, attempts = t.attempts + excluded.attempts,
 unknown = t.unknown + excluded.unknown, cost = t.cost + excluded.cost`,
		days, models, payers, users, keys, generations, images, spent, attempts, unknown, cost)
}

// EachTotals implements [imagegen.TotalsKeeper].
func (db *DB) EachTotals(ctx context.Context, from, to time.Time, f func(imagegen.TotalsRow)) error {
	return db.view(ctx, func(s *session) error {
		s.eachTotals(from, to, f)
		return nil
	})
}

// Currency implements [imagegen.TotalsKeeper].
func (db *DB) Currency(ctx context.Context, code string, replace bool) (string, error) {
	return db.tables.Currency(ctx, code, replace)
}

func (s *session) eachTotals(from, to time.Time, f func(imagegen.TotalsRow)) {
	var r imagegen.TotalsRow
	var day time.Time
	var model, payer, user, key string
	s.query(func(rows pgx.Rows) error {
		return each(rows, func() error {
			r.TotalsKey = imagegen.TotalsKey{Day: day, Model: model,
				Payer: imagegen.UserID(payer), User: imagegen.UserID(user), Key: imagegen.KeyID(key)}
			f(r)
			return nil
		}, &day, &model, &payer, &user, &key, &r.Generations, &r.Images, &r.Spent, &r.Attempts, &r.Unknown, &r.Cost)
	}, `select * from imagegend.generation_totals where day between $1 and $2`, from, to)
}

// lessTotals takes the totals off the sums of an audit.
func (s *session) lessTotals(sums rules.Totals) {
	s.eachTotals(time.Unix(0, 0), time.Unix(1<<36, 0), func(r imagegen.TotalsRow) {
		sums.Add(r.TotalsKey, imagegen.Totals{}.Minus(r.Totals))
	})
}
