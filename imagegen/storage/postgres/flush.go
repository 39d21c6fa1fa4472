package postgres

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// flush queues what a session has changed, one statement for each kind of row, whatever the number of rows: a statement
// takes a list for each column, and unnest makes rows of the lists. So a batch of 256 calls writes with about as many
// statements as a single one. The order of the rows within a statement does not matter: the accounts and generations
// that they belong to are locked by now.
//
// The row of the clock is read without a lock. If somebody has changed it since, such as by a confirmation, the update
// divides by zero, and the transaction is run again.
func (s *session) flush(b *pgx.Batch) {
	s.flushBooks(b)
	s.flushCharges(b)
	s.flushRows(b)
	s.flushTotals(b)
	s.flushFeed(b)
	s.kept.flush(b)
	trailNew.insert(b, s.noted)
	if s.mark.changed {
		m := &s.mark
		b.Queue(`with met as (update imagegend.clock set version = version + 1, at = $2, doubt = $3, skew = $4::text::interval, epoch = $5,
 corrected_at = $6 where version = $1 returning 1) select 1 / (count(*) = 1)::int from met`, m.version, timeOrNull(m.At),
			m.Doubt, fmt.Sprint(m.Skew.Microseconds(), " microseconds"), int64(m.Epoch), timeOrNull(m.Since))
	}
}

// flushBooks writes accounts, lots, entries and usage. It inserts no account: one that was changed was locked, and so
// exists. Of a lot that exists the columns that are in an index stay as they are, except live, where the last credits
// go or the first come back. Usage is an upsert, since a session does not note whether the database has such a row.
//
// The key of an entry makes a second one with the same number fail: a transaction that decided on an account which has
// changed since is run again. So does the unique index over ref: of two grants with one reference, the later finds the
// earlier when it runs again.
func (s *session) flushBooks(b *pgx.Batch) {
	var changed []*ledger.Account
	var fresh, drawn []*ledger.Lot
	for _, a := range s.accounts {
		if a.changed {
			changed = append(changed, &a.Account)
		}
		for _, l := range a.lots {
			switch {
			case l.fresh:
				fresh = append(fresh, &l.Lot)
			case l.changed:
				drawn = append(drawn, &l.Lot)
			}
		}
	}
	var entries []*entryRow
	for _, e := range s.entries {
		entries = append(entries, layEntry(e))
	}
	var used []*ledger.Usage
	for _, u := range s.usage {
		if u.changed {
			used = append(used, &u.Usage)
		}
	}
	var totals []*ledger.KeyTotal
	for _, t := range s.totals {
		if t.changed {
			totals = append(totals, &t.KeyTotal)
		}
	}
	inAccounts.update(b, changed)
	inLots.insert(b, fresh)
	inLots.update(b, drawn)
	inEntries.insert(b, entries)
	inUsage.put(b, used)
	inKeyTotals.put(b, totals)
}

// chargeColumns are the values of some charges, a list for each column. users and seqs are the place of the charge's
// last entry, formers and was the place that it had when it was read. lots is each time the text of an array of
// numbers, since unnest would flatten an array of arrays.
type chargeColumns struct {
	ids, users, formers []string
	seqs, was           []int64
	open                []bool
	lots                []string
	keys, models        []*string // of the row of usage that it counts in; nil: it counts in none
	days                []*time.Time
}

func (c *chargeColumns) appendCharge(id imagegen.ChargeID, v *charge) {
	c.ids, c.users, c.seqs, c.open = append(c.ids, string(id)), append(c.users, string(v.User)),
		append(c.seqs, int64(v.Seq)), append(c.open, !v.Settled)
	c.formers, c.was = append(c.formers, string(v.was.User)), append(c.was, int64(v.was.Seq))
	var lots []string
	for _, p := range v.Postings {
		lots = append(lots, decimal(p.Lot))
	}
	c.lots = append(c.lots, "{"+strings.Join(lots, ",")+"}")
	k := v.booked
	if k.User == "" { // it was settled before it was ever charged
		c.keys, c.models, c.days = append(c.keys, nil), append(c.models, nil), append(c.days, nil)
		return
	}
	day := k.Day
	c.keys, c.models, c.days = append(c.keys, new(string(k.Key))), append(c.models, &k.Model), append(c.days, &day)
}

// flushCharges writes charges. All that is known of a charge follows from its last entry, to which
// its row points. The lots and the row of usage are set once; they only say what a settlement will need (heldLots,
// askUsage).
//
// No charge is locked; the lock on its account serves instead. But a charge that is made while the accounts are being
// locked is read without that lock, and somebody may settle it before the lock is obtained. So the update looks for the
// place that was read, and divides by zero unless it has found all rows: the transaction is then run again.
func (s *session) flushCharges(b *pgx.Batch) {
	var fresh, changed chargeColumns
	for id, c := range s.charges {
		switch {
		case c.fresh && c.changed:
			fresh.appendCharge(id, c)
		case c.changed:
			changed.appendCharge(id, c)
		}
	}
	if c := fresh; len(c.ids) > 0 {
		b.Queue(`insert into imagegend.charges (id, usr, seq, open, lots, key, day, model)
 select i, u, s, o, l::bigint[], k, d, m from unnest($1::text[], $2::text[], $3::bigint[], $4::bool[], $5::text[], $6::text[], $7::date[], $8::text[]) x(i, u, s, o, l, k, d, m)`,
			c.ids, c.users, c.seqs, c.open, c.lots, c.keys, c.days, c.models)
	}
	if c := changed; len(c.ids) > 0 {
		b.Queue(`with met as (update imagegend.charges c set seq = x.seq, open = x.open
 from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bool[]) x(id, usr, was, seq, open)
 where c.id = x.id and c.usr = x.usr and c.seq = x.was returning 1) select 1 / (count(*) = $6)::int from met`,
			c.ids, c.formers, c.was, c.seqs, c.open, len(c.ids))
	}
}
