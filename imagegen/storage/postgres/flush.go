package postgres

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

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
		if m.Epoch > s.at.Epoch {
			correctWork(b, s.at.Wall.Sub(s.at.Now))
		}
		b.Queue(`with met as (update imagegend.clock set version = version + 1, at = $2, doubt = $3, skew = $4::text::interval, epoch = $5,
 corrected_at = $6 where version = $1 returning 1) select 1 / (count(*) = 1)::int from met`, m.version, timeOrNull(m.At),
			m.Doubt, microseconds(m.Skew), int64(m.Epoch), timeOrNull(m.Since))
	}
}

// correctWork queues that leases and delays end by the corrected clock when they would have ended by the former one:
// what a clock dated that was years fast would be neither recovered nor claimed for years. Every transaction reads the
// clock, so only one that has read it and not yet written may still date a lease by the former one.
func correctWork(b *pgx.Batch, by time.Duration) {
	b.Queue(`with l as (select id from imagegend.leases order by id for update)
 update imagegend.leases set until = until + $1::text::interval from l where leases.id = l.id`, microseconds(by))
	b.Queue(`with w as (select id from imagegend.waiting where due is not null order by id for update)
 update imagegend.waiting set due = due + $1::text::interval from w where waiting.id = w.id`, microseconds(by))
}

// microseconds is a duration as an interval is written.
func microseconds(d time.Duration) string { return fmt.Sprint(d.Microseconds(), " microseconds") }

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

// flushCharges writes charges. All that is known of a charge follows from its last entry, to which its row points.
//
// No charge is locked; the lock on its account serves instead. But a charge that is made while the accounts are being
// locked is read without that lock, and somebody may settle it before the lock is obtained. So the update looks for the
// place that was read, and divides by zero unless it has found all rows: the transaction is then run again.
func (s *session) flushCharges(b *pgx.Batch) {
	var fresh []*chargeRow
	var ids, formers []string
	var was, seqs []int64
	var open []bool
	for id, c := range s.charges {
		switch {
		case c.fresh && c.changed:
			fresh = append(fresh, &chargeRow{id, c.Place, !c.Settled})
		case c.changed:
			ids, open, seqs = append(ids, string(id)), append(open, !c.Settled), append(seqs, int64(c.Seq))
			formers, was = append(formers, string(c.was.User)), append(was, int64(c.was.Seq))
		}
	}
	inCharges.insert(b, fresh)
	if len(ids) > 0 {
		b.Queue(`with met as (update imagegend.charges c set seq = x.seq, open = x.open
 from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bool[]) x(id, usr, was, seq, open)
 where c.id = x.id and c.usr = x.usr and c.seq = x.was returning 1) select 1 / (count(*) = $6)::int from met`,
			ids, formers, was, seqs, open, len(ids))
	}
}
