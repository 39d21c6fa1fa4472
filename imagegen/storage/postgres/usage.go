package postgres

import (
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
)

// usage is a row of usage; total is that of a key.
type (
	usage struct {
		ledger.Usage
		changed bool
	}
	total struct {
		ledger.KeyTotal
		changed bool
	}
	keyOf struct {
		user imagegen.UserID
		key  imagegen.KeyID
	}
)

const (
	usageForDays = `select form from imagegend.usage where usr = $1 and day >= $2 and day < $3`
	usageOfDay   = `select form from imagegend.usage where day = $1`
	readTotal    = `select form from imagegend.totals where usr = $1 and key = $2`
)

// Usage implements ledger.Tx.
func (s *session) Usage(u imagegen.UserID, from, to time.Time) iter.Seq[ledger.Usage] {
	return s.usageOf(usageForDays, []byte(u), from.Unix(), to.Unix())
}

// KeyUsage implements ledger.Tx.
func (s *session) KeyUsage(u imagegen.UserID, k imagegen.KeyID, from, to time.Time) iter.Seq[ledger.Usage] {
	return s.usageOf(usageForDays+` and key = $4`, []byte(u), from.Unix(), to.Unix(), []byte(k))
}

// DayUsage implements ledger.Tx, where nothing is written. It keeps none of the rows: there may be many.
func (s *session) DayUsage(day time.Time) iter.Seq[ledger.Usage] {
	return func(yield func(ledger.Usage) bool) {
		s.query(func(rows pgx.Rows) error {
			for rows.Next() {
				var form []byte
				var u ledger.Usage
				if err := rows.Scan(&form); err != nil {
					return err
				}
				if err := kv.Decode(form, &u, ledgerkv.UsageForm); err != nil {
					return kv.Damage{Err: err}
				}
				if !yield(u) {
					return nil
				}
			}
			return nil
		}, usageOfDay, day.Unix())
	}
}

// usageOf goes over rows as they are by now; one that this session makes is not among those of the database.
func (s *session) usageOf(sql string, args ...any) iter.Seq[ledger.Usage] {
	return func(yield func(ledger.Usage) bool) {
		var keys []ledger.UsageKey
		s.query(s.scanUsage(func(k ledger.UsageKey) { keys = append(keys, k) }), sql, args...)
		there := make(map[ledger.UsageKey]bool)
		for _, k := range keys {
			there[k] = true
		}
		for k, row := range s.usage {
			if row.changed && !there[k] && within(k, args) {
				keys = append(keys, k)
			}
		}
		for _, k := range keys {
			if !yield(s.usage[k].Usage) {
				return
			}
		}
	}
}

// within reports whether a row is among those that were asked for.
func within(k ledger.UsageKey, args []any) bool {
	day := k.Day.Unix()
	return string(k.User) == string(args[0].([]byte)) && day >= args[1].(int64) && day < args[2].(int64) &&
		(len(args) < 4 || string(k.Key) == string(args[3].([]byte)))
}

// scanUsage takes rows up; what the session has of one is newer.
func (s *session) scanUsage(told func(ledger.UsageKey)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var form []byte
		return each(rows, func() error {
			var u usage
			if err := kv.Decode(form, &u.Usage, ledgerkv.UsageForm); err != nil {
				return kv.Damage{Err: err}
			}
			if former := s.usage[u.UsageKey]; former == nil || !former.changed {
				s.usage[u.UsageKey] = &u
			}
			told(u.UsageKey)
			return nil
		}, &form)
	}
}

// UsageRow implements ledger.Tx.
func (s *session) UsageRow(k ledger.UsageKey) ledger.Usage {
	if s.usage[k] == nil && !s.whole[keyOf{k.User, k.Key}][k.Day.Unix()] {
		s.query(s.scanUsage(func(ledger.UsageKey) {}), `select form from imagegend.usage where usr = $1 and key = $2 and day = $3 and model = $4`,
			[]byte(k.User), []byte(k.Key), k.Day.Unix(), []byte(k.Model))
	}
	if s.usage[k] == nil {
		s.usage[k] = &usage{Usage: ledger.Usage{UsageKey: k}}
	}
	return s.usage[k].Usage
}

// KeyTotal implements ledger.Tx.
func (s *session) KeyTotal(u imagegen.UserID, k imagegen.KeyID) ledger.KeyTotal {
	id := keyOf{u, k}
	if s.totals[id] == nil {
		s.query(s.scanTotals, readTotal, []byte(u), []byte(k))
	}
	if s.totals[id] == nil {
		s.totals[id] = &total{KeyTotal: ledger.KeyTotal{User: u, Key: k}}
	}
	return s.totals[id].KeyTotal
}

func (s *session) scanTotals(rows pgx.Rows) error {
	var form []byte
	return each(rows, func() error {
		var t total
		if err := kv.Decode(form, &t.KeyTotal, ledgerkv.TotalForm); err != nil {
			return kv.Damage{Err: err}
		}
		s.totals[keyOf{t.User, t.Key}] = &t
		return nil
	}, &form)
}

// bill notes what an entry does to usage.
func (s *session) bill(c *ledger.Change) {
	if c.Usage != nil {
		s.usage[c.Usage.To.UsageKey] = &usage{c.Usage.To, true}
	}
	if c.Key != nil {
		s.totals[keyOf{c.Key.To.User, c.Key.To.Key}] = &total{c.Key.To, true}
	}
}

// askUsage reads beforehand what charges are booked to: of those that are to be made by the keys that ask, on the
// day that it is and its neighbours; of those that stand as they were.
func (s *session) askUsage(b *pgx.Batch, n need) {
	var users, keys [][]byte
	today := imagegen.UsageDay(s.db.books.Now()).Unix()
	const aDay = 24 * 60 * 60
	days := []int64{today - aDay, today, today + aDay}
	for k := range n.billed {
		if s.whole[k] == nil {
			users, keys = append(users, []byte(k.user)), append(keys, []byte(k.key))
			s.whole[k] = map[int64]bool{days[0]: true, days[1]: true, days[2]: true}
			s.totals[k] = &total{KeyTotal: ledger.KeyTotal{User: k.user, Key: k.key}}
		}
	}
	none := func(ledger.UsageKey) {}
	if len(users) > 0 {
		b.Queue(`select u.form from unnest($1::bytea[], $2::bytea[]) x(usr, key) cross join lateral
 (select form from imagegend.usage u where u.usr = x.usr and u.key = x.key and u.day = any($3) offset 0) u`,
			users, keys, days).Query(s.scanUsage(none))
		b.Queue(`select t.form from unnest($1::bytea[], $2::bytea[]) x(usr, key) join imagegend.totals t on t.usr = x.usr and t.key = x.key`, users, keys).Query(s.scanTotals)
	}
	if ids := unique(n.charges); len(ids) > 0 {
		b.Queue(`select u.form from imagegend.charges c join imagegend.usage u on u.usr = c.usr and u.key = c.key and u.day = c.day and u.model = c.model where c.id = any($1)`,
			ids).Query(s.scanUsage(none))
		b.Queue(`select t.form from imagegend.charges c join imagegend.totals t on t.usr = c.usr and t.key = c.key where c.id = any($1)`, ids).Query(s.scanTotals)
	}
}

func (s *session) flushUsage(b *pgx.Batch) {
	var users, keys, models, forms [][]byte
	var days []int64
	for k, u := range s.usage {
		if u.changed {
			users, keys, models, days = append(users, []byte(k.User)), append(keys, []byte(k.Key)), append(models, []byte(k.Model)), append(days, k.Day.Unix())
			forms = append(forms, kv.Encode(&u.Usage, ledgerkv.UsageForm))
		}
	}
	if len(users) > 0 {
		b.Queue(`insert into imagegend.usage (usr, key, day, model, form) select * from unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[])
 on conflict (usr, key, day, model) do update set form = excluded.form`, users, keys, days, models, forms)
	}
	users, keys, forms = nil, nil, nil
	for k, t := range s.totals {
		if t.changed {
			users, keys, forms = append(users, []byte(k.user)), append(keys, []byte(k.key)), append(forms, kv.Encode(&t.KeyTotal, ledgerkv.TotalForm))
		}
	}
	if len(users) > 0 {
		b.Queue(`insert into imagegend.totals (usr, key, form) select * from unnest($1::bytea[], $2::bytea[], $3::bytea[])
 on conflict (usr, key) do update set form = excluded.form`, users, keys, forms)
	}
}
