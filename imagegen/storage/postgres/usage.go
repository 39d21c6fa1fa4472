package postgres

import (
	"context"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// A charge counts in one row of usage, that of its user, API key, day and model, and in the total of its key. Both are
// sums that every charge changes; the lock of the user's account keeps them right.

type (
	// usage is a row of usage as it is by now.
	usage struct {
		ledger.Usage
		changed bool
	}
	// total is the total of an API key as it is by now.
	total struct {
		ledger.KeyTotal
		changed bool
	}
	// keyOf is an API key of a user; "": in process, or the console.
	keyOf struct {
		user imagegen.UserID
		key  imagegen.KeyID
	}
)

var (
	usageForDays = inUsage.from() + ` where usr = $1 and day >= $2 and day < $3`
	readTotal    = inKeyTotals.from() + ` where usr = $1 and key = $2`
	totalsOfKeys = `select ` + inKeyTotals.of("t") + ` from unnest($1::text[], $2::text[]) x(usr, key)
 join imagegend.key_totals t on t.usr = x.usr and t.key = x.key`
)

// Usage implements ledger.Tx. from and to are midnights in UTC, as days are kept.
func (s *session) Usage(u imagegen.UserID, from, to time.Time) iter.Seq[ledger.Usage] {
	return s.usageOf(usageForDays, u, from, to)
}

// KeyUsage implements ledger.Tx.
func (s *session) KeyUsage(u imagegen.UserID, k imagegen.KeyID, from, to time.Time) iter.Seq[ledger.Usage] {
	return s.usageOf(usageForDays+` and key = $4`, u, from, to, k)
}

// DayUsage implements ledger.Tx, in a session that only reads: it gives the rows as they are in the database. It keeps
// none of them, since there may be many, and runs yield while the query is open, so yield must not use the session.
func (s *session) DayUsage(day time.Time) iter.Seq[ledger.Usage] {
	return func(yield func(ledger.Usage) bool) {
		s.query(func(rows pgx.Rows) error {
			for rows.Next() {
				var u ledger.Usage
				if err := rows.Scan(inUsage.cells(&u)...); err != nil {
					return err
				}
				if !yield(u) {
					return nil
				}
			}
			return nil
		}, inUsage.from()+` where day = $1`, day)
	}
}

// usersAtOnce is of how many users EachUsersUsage reads the usage in one transaction.
const usersAtOnce = 500

// EachUsersUsage implements [imagegen.UsageWalker].
func (db *DB) EachUsersUsage(ctx context.Context, from, to time.Time, f func(imagegen.UserID, imagegen.Usage)) error {
	for last, more := imagegen.UserID(""), true; more; {
		err := db.view(ctx, func(s *session) error {
			users := identifiers[imagegen.UserID](s,
				`select usr from imagegend.accounts where usr > $1 order by usr limit $2`, last, usersAtOnce)
			if more = len(users) == usersAtOnce; len(users) == 0 {
				return nil
			}
			read(s, inUsage.scan, func(u *ledger.Usage) {
				if row := u.Public(); row.Member == "" {
					f(u.User, row)
				}
			}, usersUsage, imagegen.UsageDay(from), imagegen.UsageDay(to), last, users[len(users)-1])
			last = users[len(users)-1]
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// usersUsage looks into the index of days once for each day. The offset keeps the planner from another way.
var usersUsage = `select ` + inUsage.of("u") + ` from generate_series($1::date, $2::date, interval '1 day') d(day)
 cross join lateral (select * from imagegend.usage u where u.day = d.day::date and u.usr > $3 and u.usr <= $4 offset 0) u order by u.usr`

// usageOf goes over the rows of a query as they are by now: with what this session has changed, and with those rows
// that it has made, which the database does not know yet. args are those of the query, in the order that within
// expects.
func (s *session) usageOf(sql string, args ...any) iter.Seq[ledger.Usage] {
	return func(yield func(ledger.Usage) bool) {
		there := make(map[ledger.UsageKey]bool)
		s.query(s.scanUsage(func(k ledger.UsageKey) { there[k] = true }), sql, args...)
		for k, row := range s.usage {
			if row.changed && within(k, args) {
				there[k] = true
			}
		}
		for k := range there {
			if !yield(s.usage[k].Usage) {
				return
			}
		}
	}
}

// within reports whether a row is among those that a query with these args asks for: user, first day, day behind the
// last, and, if there is a fourth, key.
func within(k ledger.UsageKey, args []any) bool {
	return k.User == args[0] && !k.Day.Before(args[1].(time.Time)) && k.Day.Before(args[2].(time.Time)) &&
		(len(args) < 4 || k.Key == args[3])
}

// scanUsage takes rows into the session, unless it has changed them: then what it has is newer. seen is called with the
// key of each.
func (s *session) scanUsage(seen func(ledger.UsageKey)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		return inUsage.scan(rows, func(u *ledger.Usage) {
			if former := s.usage[u.UsageKey]; former == nil || !former.changed {
				s.usage[u.UsageKey] = &usage{Usage: *u}
			}
			seen(u.UsageKey)
		})
	}
}

// UsageRow implements ledger.Tx. Where all rows of a key on that day were read, one that is not there needs no query.
func (s *session) UsageRow(k ledger.UsageKey) ledger.Usage {
	if s.usage[k] == nil && !s.whole[keyOf{k.User, k.Key}][k.Day] {
		s.query(s.scanUsage(func(ledger.UsageKey) {}),
			inUsage.from()+` where usr = $1 and key = $2 and day = $3 and model = $4`, k.User, k.Key, k.Day, k.Model)
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
		s.query(s.scanTotals, readTotal, u, k)
	}
	if s.totals[id] == nil {
		s.totals[id] = &total{KeyTotal: ledger.KeyTotal{User: u, Key: k}}
	}
	return s.totals[id].KeyTotal
}

// scanTotals takes totals into the session. They are read before anything is billed, so none is newer there.
func (s *session) scanTotals(rows pgx.Rows) error {
	return inKeyTotals.scan(rows, func(t *ledger.KeyTotal) { s.totals[keyOf{t.User, t.Key}] = &total{KeyTotal: *t} })
}

// bill notes what an entry does to usage, as the ledger has computed it.
func (s *session) bill(c *ledger.Change) {
	for _, u := range c.Usage {
		s.usage[u.To.UsageKey] = &usage{u.To, true}
	}
	for _, k := range c.Keys {
		s.totals[keyOf{k.To.User, k.To.Key}] = &total{k.To, true}
	}
}

// billed has the keys of the rows of usage in which an entry counts.
const billed = `array[coalesce(t.api_key, ''), E'\x01' || t.member]`

// billedBy returns the keys of the rows of usage in which a charge that is to be made counts.
func billedBy(c imagegen.Charge) map[keyOf]bool {
	keys := map[keyOf]bool{{c.User, c.Key}: true}
	if c.Member != "" {
		keys[keyOf{c.User, ledger.MemberKey(c.Member)}] = true
	}
	return keys
}

// askUsage queues the reads of what charges count in. For charges that are to be made it reads all rows of their keys
// on this day, whatever the models, and on the day before and after: the time is known only at the end of the same
// round trip, and may be of another day by then. For charges that exist, their entries say which rows of usage and
// totals they count in (ledger.Entry.Bills).
//
// The offset 0 has the planner look up each key by itself, see prefetch.go.
func (s *session) askUsage(b *pgx.Batch, n need) {
	var users, keys []string
	today := imagegen.UsageDay(s.db.books.Now())
	days := []time.Time{today.AddDate(0, 0, -1), today, today.AddDate(0, 0, 1)}
	for k := range n.billed {
		if s.whole[k] == nil && storable(string(k.key)) {
			users, keys = append(users, string(k.user)), append(keys, string(k.key))
			s.whole[k] = map[time.Time]bool{days[0]: true, days[1]: true, days[2]: true}
			s.totals[k] = &total{KeyTotal: ledger.KeyTotal{User: k.user, Key: k.key}}
		}
	}
	none := func(ledger.UsageKey) {}
	if len(users) > 0 {
		b.Queue(`select `+inUsage.of("t")+` from unnest($1::text[], $2::text[]) x(usr, key) cross join lateral
 (select * from imagegend.usage u where u.usr = x.usr and u.key = x.key and u.day = any($3) offset 0) t`,
			users, keys, days).Query(s.scanUsage(none))
		b.Queue(totalsOfKeys, users, keys).Query(s.scanTotals)
	}
	if ids := unique(n.charges); len(ids) > 0 {
		b.Queue(`select `+inUsage.of("u")+ofCharges+` cross join lateral (select * from imagegend.usage u where u.usr = t.usr
 and u.key = any(`+billed+`) and u.day = (coalesce(t.charged_at, t.at) at time zone 'UTC')::date
 and u.model = coalesce(t.model, '') offset 0) u where c.id = any($1)`, ids).Query(s.scanUsage(none))
		b.Queue(`select `+inKeyTotals.of("k")+ofCharges+` cross join lateral (select * from imagegend.key_totals k
 where k.usr = t.usr and k.key = any(`+billed+`) offset 0) k where c.id = any($1)`, ids).Query(s.scanTotals)
	}
}
