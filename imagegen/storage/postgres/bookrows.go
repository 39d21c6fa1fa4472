package postgres

import (
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// The tables of the ledger, as they lie in columns.
var (
	inAccounts = newKind("accounts", 1, `usr text, available bigint, held bigint, granted bigint, spent bigint,
 expired bigint, revoked bigint, expiring bigint, expires_at timestamptz, lots bigint, seq bigint, hash bytea,
 at timestamptz, epoch bigint`, func(a *ledger.Account) []any {
		return []any{&a.User, &a.Available, &a.Held, &a.Granted, &a.Spent, &a.Expired, &a.Revoked, &a.Next.Credits,
			at(&a.Next.At), &a.Lots, &a.Seq, hash(a.Hash[:]), at(&a.Time), &a.Epoch}
	})
	inLots = newKind("lots", 2, `usr text, lot bigint, granted bigint, remaining bigint, held bigint, spent bigint,
 expired bigint, revoked bigint, moved bigint, promo boolean, priority integer, effective_at timestamptz,
 expires_at timestamptz, ref text, refund boolean`, func(l *ledger.Lot) []any {
		return []any{&l.User, &l.Number, &l.Granted, &l.Remaining, &l.Held, &l.Spent, &l.Expired, &l.Revoked,
			&l.Moved, &l.Promo, &l.Priority, at(&l.Effective), at(&l.Expires), orNull(&l.Ref), &l.Refund}
	})
	inEntries = newKind("entries", 2, `usr text, seq bigint, at timestamptz, epoch bigint, kind text, charge text,
 ref text, actor text, member text, model text, api_key text, credits bigint, used bigint, balance bigint,
 images integer, cancelled boolean, charged_at timestamptz, lots bigint[], took bigint[], back bigint[], moved bigint[],
 made_lots bigint[], made_credits bigint[], made_promo boolean[], made_priority bigint[], made_expires_at timestamptz[],
 hash bytea`, func(e *entryRow) []any {
		return []any{&e.User, &e.Seq, at(&e.Time), &e.Epoch, &e.Kind, orNull(&e.Charge), orNull(&e.Ref),
			orNull(&e.Actor), orNull(&e.Member), orNull(&e.Model), orNull(&e.Key), &e.Credits, &e.Used, &e.Balance,
			&e.Images, &e.Cancelled, at(&e.Charged), &e.lots, &e.took, &e.back, &e.moved, &e.made, &e.credits,
			&e.promo, &e.priority, &e.expires, fixed(e.Hash[:])}
	})
	inCharges = newKind("charges", 1, `id text, usr text, seq bigint, open boolean`,
		func(c *chargeRow) []any { return []any{&c.id, &c.User, &c.Seq, &c.open} })
	inUsage = newKind("usage", 4, `usr text, key text, day date, model text, charged bigint, refunded bigint,
 spent bigint, images bigint, generations bigint, failed bigint, cancelled bigint`, func(u *ledger.Usage) []any {
		return []any{&u.User, &u.Key, &u.Day, &u.Model, &u.Charged, &u.Refunded, &u.Spent, &u.Images,
			&u.Generations, &u.Failed, &u.Cancelled}
	})
	inKeyTotals = newKind("key_totals", 2, `usr text, key text, credits bigint, open bigint`,
		func(t *ledger.KeyTotal) []any { return []any{&t.User, &t.Key, &t.Credits, &t.Open} })
	inClock = newKind("clock", 1, `version bigint, at timestamptz, doubt boolean, skew interval, epoch bigint,
 corrected_at timestamptz`, func(m *marked) []any {
		return []any{&m.version, at(&m.At), &m.Doubt, span{&m.Skew}, &m.Epoch, at(&m.Since)}
	})
	inMoves = newKind("moves", 1, `one boolean, state text, move text, other text, since timestamptz, bucket text,
 key bytea`, func(m *moving) []any {
		return []any{&m.one, orNull(&m.State), orNull(&m.Move), orNull(&m.Other), at(&m.Since), orNull(&m.At.Bucket),
			&m.At.Key}
	})
)

// chargeRow is where the last entry of a charge stands.
type chargeRow struct {
	id imagegen.ChargeID
	ledger.Place
	open bool
}

// entryRow is an entry of the journal as it lies in columns: its postings and the lots that it makes are arrays.
type entryRow struct {
	ledger.Entry
	lots              []uint64 // of each posting, as the next three; one that would be all 0 is empty
	took, back, moved []imagegen.Credits
	made              []uint64 // the lots that it makes, as the next four
	credits           []imagegen.Credits
	promo             []bool
	priority          []int
	expires           []pgtype.Timestamptz
}

// layEntry makes the columns of an entry.
func layEntry(e ledger.Entry) *entryRow {
	r := &entryRow{Entry: e}
	for _, p := range e.Postings {
		r.lots, r.took = append(r.lots, p.Lot), append(r.took, p.Took)
		r.back, r.moved = append(r.back, p.Back), append(r.moved, p.Moved)
	}
	r.back, r.moved = unlessZero(r.back), unlessZero(r.moved)
	for _, l := range e.Lots {
		r.made, r.credits, r.promo = append(r.made, l.Number), append(r.credits, l.Credits), append(r.promo, l.Promo)
		r.priority = append(r.priority, l.Priority)
		r.expires = append(r.expires, pgtype.Timestamptz{Time: l.Expires, Valid: !l.Expires.IsZero()})
	}
	return r
}

// lift makes the entry of its columns. Where an array has less than the first, it is 0.
func (r *entryRow) lift() ledger.Entry {
	e := r.Entry
	for i, lot := range r.lots {
		e.Postings = append(e.Postings, ledger.Posting{Lot: lot, Took: nth(r.took, i), Back: nth(r.back, i),
			Moved: nth(r.moved, i)})
	}
	for i, lot := range r.made {
		e.Lots = append(e.Lots, ledger.NewLot{Number: lot, Credits: nth(r.credits, i), Promo: nth(r.promo, i),
			Priority: nth(r.priority, i), Expires: nth(r.expires, i).Time.UTC()})
	}
	return e.Encode()
}

// unlessZero leaves out numbers that are all 0.
func unlessZero(all []imagegen.Credits) []imagegen.Credits {
	if slices.ContainsFunc(all, func(c imagegen.Credits) bool { return c != 0 }) {
		return all
	}
	return nil
}

func nth[T any](all []T, n int) (v T) {
	if n < len(all) {
		v = all[n]
	}
	return v
}

// scanEntries calls f for each entry of a query for all columns.
func scanEntries(rows pgx.Rows, f func(ledger.Entry)) error {
	return inEntries.scan(rows, func(r *entryRow) { f(r.lift()) })
}

// marked is what was written down of the clock.
type marked struct {
	clock.Mark
	read, changed bool
	version       int64 // in the database
}

// moving is the mark of a move.
type moving struct {
	one bool
	transfer.Mark
}
