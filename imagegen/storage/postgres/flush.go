package postgres

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// flush queues what a session has changed, one statement for each kind of row, whatever the number of rows: a statement
// takes a list for each column, and unnest makes rows of the lists. So a batch of 256 calls writes with about as many
// statements as a single one. The order of the rows within a statement does not matter: the accounts and generations
// that they belong to are locked by now.
//
// The row of the clock is read without a lock. If somebody has changed it since, such as by a confirmation, the update
// divides by zero, and the transaction is run again.
//
// Most tables have two parts. form is the row as package kv encodes it, and what is read back; the columns beside it
// follow from it and serve to find it. An audit compares the two.
func (s *session) flush(b *pgx.Batch) {
	s.flushAccounts(b)
	s.flushLots(b)
	s.flushJournal(b)
	s.flushCharges(b)
	s.flushUsage(b)
	s.flushRows(b)
	s.flushTotals(b)
	s.kept.flush(b)
	if s.mark.changed {
		b.Queue(`with met as (update imagegend.clock set form = $1 where form is not distinct from $2 returning 1) select 1 / (count(*) = 1)::int from met`,
			s.mark.Encode(), s.mark.stored)
	}
}

// flushAccounts writes accounts. It never inserts: an account that was changed was locked, and so exists. next is when
// the first of its credits expires, NULL if none does; the index over it is what Due reads.
func (s *session) flushAccounts(b *pgx.Batch) {
	var users, forms [][]byte
	var seqs []int64
	var next []*int64
	for u, a := range s.accounts {
		if !a.changed {
			continue
		}
		users, forms, seqs = append(users, []byte(u)), append(forms, kv.Encode(&a.Account, ledgerkv.AccountForm)),
			append(seqs, int64(a.Seq))
		var at *int64
		if !a.Next.At.IsZero() {
			n := a.Next.At.UnixNano()
			at = &n
		}
		next = append(next, at)
	}
	if len(users) > 0 {
		b.Queue(`update imagegend.accounts a set seq = x.seq, next = x.next, form = x.form
 from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bytea[]) x(usr, seq, next, form) where a.usr = x.usr`, users,
			seqs, next, forms)
	}
}

// lotColumns are the values of some lots, a list for each column; index by index they make the rows.
type lotColumns struct {
	users, forms                         [][]byte
	numbers, priority, expires, effected []int64
	paid, live                           []bool
}

func (c *lotColumns) appendLot(l ledger.Lot) {
	c.users, c.forms = append(c.users, []byte(l.User)), append(c.forms, kv.Encode(&l, ledgerkv.LotForm))
	c.numbers, c.priority = append(c.numbers, int64(l.Number)), append(c.priority, int64(l.Priority))
	c.expires, c.effected = append(c.expires, nano(l.Expires)), append(c.effected, l.Effective.UnixNano())
	c.paid, c.live = append(c.paid, !l.Promo), append(c.live, l.Remaining > 0)
}

// flushLots writes lots. Of a lot that exists only live and form can change: its place in the orders in which lots are
// consumed and expire is fixed when it is made, so the update touches an index only where the last credits go or the
// first come back.
func (s *session) flushLots(b *pgx.Batch) {
	var fresh, changed lotColumns
	for _, a := range s.accounts {
		for _, l := range a.lots {
			switch {
			case l.fresh:
				fresh.appendLot(l.Lot)
			case l.changed:
				changed.appendLot(l.Lot)
			}
		}
	}
	if c := fresh; len(c.users) > 0 {
		b.Queue(`insert into imagegend.lots (usr, lot, priority, expires, paid, effective, live, form)
 select * from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bool[], $6::bigint[], $7::bool[], $8::bytea[])`,
			c.users, c.numbers, c.priority, c.expires, c.paid, c.effected, c.live, c.forms)
	}
	if c := changed; len(c.users) > 0 {
		b.Queue(`update imagegend.lots l set live = x.live, form = x.form
 from unnest($1::bytea[], $2::bigint[], $3::bool[], $4::bytea[]) x(usr, lot, live, form) where l.usr = x.usr and l.lot = x.lot`,
			c.users, c.numbers, c.live, c.forms)
	}
}

// flushJournal appends the entries. The key (usr, seq) makes a second entry with the same number fail: a transaction
// that decided on an account which has changed since is run again. So does the unique index over ref, NULL for an entry
// without one: of two grants with one reference, the later finds the earlier when it runs again.
func (s *session) flushJournal(b *pgx.Batch) {
	if len(s.entries) == 0 {
		return
	}
	var users, refs, forms [][]byte
	var seqs, times, epochs []int64
	for _, e := range s.entries {
		users, seqs, times, epochs = append(users, []byte(e.User)), append(seqs, int64(e.Seq)),
			append(times, e.Time.UnixNano()), append(epochs, int64(e.Epoch))
		var ref []byte
		if e.Ref != "" {
			ref = []byte(e.Ref)
		}
		refs, forms = append(refs, ref), append(forms, e.Stored())
	}
	b.Queue(`insert into imagegend.journal (usr, seq, at, epoch, ref, form) select * from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[])`,
		users, seqs, times, epochs, refs, forms)
}

// chargeColumns are the values of some charges, a list for each column. users and seqs are the place of the charge's
// last entry, formers and was the place that it had when it was read. lots is each time the text of an array of
// numbers, since unnest would flatten an array of arrays.
type chargeColumns struct {
	ids, users, formers [][]byte
	seqs, was           []int64
	open                []bool
	lots                []string
	keys, models        [][]byte // of the row of usage that it counts in; nil: it counts in none
	days                []*int64
}

func (c *chargeColumns) appendCharge(id imagegen.ChargeID, v *charge) {
	c.ids, c.users, c.seqs, c.open = append(c.ids, []byte(id)), append(c.users, []byte(v.User)),
		append(c.seqs, int64(v.Seq)), append(c.open, !v.Settled)
	c.formers, c.was = append(c.formers, []byte(v.was.User)), append(c.was, int64(v.was.Seq))
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
	day := k.Day.Unix()
	c.keys, c.models, c.days = append(c.keys, []byte(k.Key)), append(c.models, []byte(k.Model)), append(c.days, &day)
}

// flushCharges writes charges. They have no form: all that is known of a charge follows from its last entry, to which
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
 select i, u, s, o, l::bigint[], k, d, m from unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bool[], $5::text[], $6::bytea[], $7::bigint[], $8::bytea[]) x(i, u, s, o, l, k, d, m)`,
			c.ids, c.users, c.seqs, c.open, c.lots, c.keys, c.days, c.models)
	}
	if c := changed; len(c.ids) > 0 {
		b.Queue(`with met as (update imagegend.charges c set seq = x.seq, open = x.open
 from unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bool[]) x(id, usr, was, seq, open)
 where c.id = x.id and c.usr = x.usr and c.seq = x.was returning 1) select 1 / (count(*) = $6)::int from met`,
			c.ids, c.formers, c.was, c.seqs, c.open, len(c.ids))
	}
}

// rowColumns are the values of some generations, a list for each column.
type rowColumns struct {
	ids, users, idempotency, joining, forms [][]byte
	status                                  []*string
	unsettled, disputed, erased, favourite  []bool
	created, nth                            []int64
	ended, tells                            []*int64
}

// columns is what follows from a row and serves to find it; nil is NULL. Each has its index, which has only the rows
// that some query looks for, so that what has ended long ago is in few of them.
type columns struct {
	status               *string
	unsettled, disputed  bool
	idempotency, joining []byte
	ended, tells         *int64
	erased, favourite    bool
}

// columnsOf is what the columns of a row must be: status is NULL while the owner cannot see the generation; ended is
// set as long as it can be read; tells is set while there is something to forget, in a failed generation its prompt, in
// an erased one the hash of its idempotency key; joining is set while nobody has received the answer. The slices are
// new.
func columnsOf(r *tables.Row) (c columns) {
	if s := string(r.Status()); s != "" {
		c.status = &s
	}
	c.unsettled, c.disputed, c.erased = r.Unsettled(), r.Dispute != "", r.State == imagegen.StateErased
	c.favourite = r.Favourite
	at := r.CompletedAt.UnixNano()
	if r.Terminal() {
		c.ended = &at
	}
	if r.State == imagegen.StateFailed && r.Prompt != "" || r.State == imagegen.StateErased && r.IdempotencyKey != "" {
		c.tells = &at
	}
	if r.IdempotencyKey != "" {
		hash := imagegen.IdempotencyHash(r.IdempotencyKey)
		c.idempotency = hash[:]
	}
	if r.Undelivered {
		c.joining = slices.Clone(r.JoinKey[:])
	}
	return c
}

func (c *rowColumns) appendRow(r *tables.Row) {
	v := columnsOf(r)
	c.ids, c.users, c.forms = append(c.ids, []byte(r.ID)), append(c.users, []byte(r.User)),
		append(c.forms, tables.EncodeRow(r))
	c.status, c.unsettled, c.disputed, c.erased = append(c.status, v.status), append(c.unsettled, v.unsettled),
		append(c.disputed, v.disputed), append(c.erased, v.erased)
	c.created, c.nth = append(c.created, r.CreatedAt.UnixNano()), append(c.nth, int64(r.Nth))
	c.ended, c.tells = append(c.ended, v.ended), append(c.tells, v.tells)
	c.idempotency, c.joining, c.favourite = append(c.idempotency, v.idempotency), append(c.joining, v.joining),
		append(c.favourite, v.favourite)
}

// flushRows writes the generations that were changed: what was not there is inserted, what is gone is deleted, and what
// came and went within the session leaves no trace. What never changes (usr, created, nth) is not updated.
func (s *session) flushRows(b *pgx.Batch) {
	var fresh, changed rowColumns
	var gone [][]byte
	for id, g := range s.rows {
		switch there := g.was.State != imagegen.StateGone; {
		case !g.changed:
		case g.State == imagegen.StateGone && there:
			gone = append(gone, []byte(id))
		case g.State == imagegen.StateGone:
		case there:
			changed.appendRow(&g.Row)
		default:
			fresh.appendRow(&g.Row)
		}
	}
	if c := fresh; len(c.ids) > 0 {
		b.Queue(`insert into imagegend.generations (id, usr, status, unsettled, disputed, created, ended, idempotency, nth, joining, tells, erased, favourite, form)
 select * from unnest($1::bytea[], $2::bytea[], $3::text[], $4::bool[], $5::bool[], $6::bigint[], $7::bigint[], $8::bytea[], $9::bigint[], $10::bytea[], $11::bigint[], $12::bool[], $13::bool[], $14::bytea[])`,
			c.ids, c.users, c.status, c.unsettled, c.disputed, c.created, c.ended, c.idempotency, c.nth, c.joining,
			c.tells, c.erased, c.favourite, c.forms)
	}
	if c := changed; len(c.ids) > 0 {
		b.Queue(`update imagegend.generations g set status = x.status, unsettled = x.unsettled, disputed = x.disputed, ended = x.ended,
 idempotency = x.idempotency, joining = x.joining, tells = x.tells, erased = x.erased, favourite = x.favourite, form = x.form
 from unnest($1::bytea[], $2::text[], $3::bool[], $4::bool[], $5::bigint[], $6::bytea[], $7::bytea[], $8::bigint[], $9::bool[], $10::bool[], $11::bytea[])
 x(id, status, unsettled, disputed, ended, idempotency, joining, tells, erased, favourite, form) where g.id = x.id`,
			c.ids, c.status, c.unsettled, c.disputed, c.ended, c.idempotency, c.joining, c.tells, c.erased, c.favourite,
			c.forms)
	}
	if len(gone) > 0 {
		b.Queue(`delete from imagegend.generations where id = any($1)`, gone)
	}
	s.flushWork(b)
}
