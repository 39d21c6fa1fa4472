package postgres

import (
	"errors"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
)

// allRows are the rows of the ledger as an audit reads them: each table once, from its beginning to its end, in pages.
// So the number of queries does not grow with the number of users, and no user's rows are held longer than needed.
//
// For that it relies on how ledger.Audit goes about it: user by user in the order of their names, first the journal,
// then the rows that follow from it, each kind once; at last all charges and all references. Asked in another order it
// would give no rows where there are some.
type allRows struct {
	*session
	user imagegen.UserID // whose rows are read

	// The tables that are sorted by user, each with its own position.
	journal, lots, usage, totals *walk
	// refs has the references of the page at hand, of the journal or of the references.
	refs map[string]ledger.Place
	// latest has the entries of the page of the journal that is gone over, and of the one before. A settlement is held
	// against the entry of its charge, which is seldom further back; one that is takes a query.
	latest [2]map[ledger.Place]ledger.Entry
}

var _ ledger.Rows = (*allRows)(nil)

// newAllRows declares the four walks; their columns are those that scanStored expects.
func newAllRows(s *session) *allRows {
	r := &allRows{session: s,
		journal: newWalk(s, "journal", `select ref, usr, seq, form from imagegend.journal order by usr, seq`),
		lots:    newWalk(s, "lots", `select null::bytea, usr, lot, form from imagegend.lots order by usr, lot`),
		usage: newWalk(s, "usage",
			`select null::bytea, usr, day, form from imagegend.usage order by usr, key, day, model`),
		totals: newWalk(s, "totals",
			`select null::bytea, usr, 0::bigint, form from imagegend.totals order by usr, key`),
	}
	r.journal.turned = r.turnTo
	return r
}

// Users implements ledger.Rows. The system's account has the empty name and comes first, if it has entries. The
// accounts of a page of users are read together, and each is dropped when the next user's turn comes.
func (r *allRows) Users() iter.Seq[imagegen.UserID] {
	return func(yield func(imagegen.UserID) bool) {
		if r.Account("").Seq > 0 && !yield("") {
			return
		}
		for page := range r.pagesOfUsers() {
			clear(r.accounts)
			r.query(r.scanAccounts, readAccounts, list(page...))
			for _, u := range page {
				delete(r.accounts, r.user)
				if r.user = u; !yield(u) {
					return
				}
			}
		}
	}
}

// pagesOfUsers goes over the users who have a row in one of four tables, in pages: also those whose account is missing,
// which an audit has to find. An account without entries does not count; it was only made to be locked.
func (r *allRows) pagesOfUsers() iter.Seq[[]imagegen.UserID] {
	return func(yield func([]imagegen.UserID) bool) {
		for last := (imagegen.UserID)(""); ; {
			page := identifiers[imagegen.UserID](r.session, `select usr from (
 (select usr from imagegend.accounts where usr > $1 and seq > 0 order by usr limit $2) union
 (select distinct usr from imagegend.journal where usr > $1 order by usr limit $2) union
 (select distinct usr from imagegend.lots where usr > $1 order by usr limit $2) union
 (select distinct usr from imagegend.usage where usr > $1 order by usr limit $2)) u order by usr limit $2`,
				bytesOf([]byte(last)), pageOf)
			if len(page) == 0 || !yield(page) {
				return
			}
			last = page[len(page)-1]
		}
	}
}

// Journal implements ledger.Rows. An entry that lies under another user or number than its own comes with an error.
func (r *allRows) Journal(u imagegen.UserID) iter.Seq2[ledger.Entry, error] {
	return func(yield func(ledger.Entry, error) bool) {
		for of := range r.journal.rowsOf(u) {
			e, err := ledger.DecodeEntry(of.form)
			if err == nil && (e.User != u || int64(e.Seq) != of.number) {
				err = errors.New("postgres: the entry lies in the place of another one")
			}
			if err == nil {
				r.latest[0][ledger.Place{User: u, Seq: e.Seq}] = e
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// turnTo is called with each page of the journal that is read. It reads beforehand what the entries of the page will be
// held against, in one query: the charges that they settle. What was read for the pages before is dropped.
func (r *allRows) turnTo(page []stored) {
	r.latest = [2]map[ledger.Place]ledger.Entry{make(map[ledger.Place]ledger.Entry, len(page)), r.latest[0]}
	r.refs = make(map[string]ledger.Place)
	var charges []imagegen.ChargeID
	for _, row := range page {
		if row.name != nil {
			r.refs[string(row.name)] = row.place()
		}
		if e, err := ledger.DecodeEntry(row.form); err == nil && e.Kind == imagegen.EntrySettle {
			charges = append(charges, e.Charge)
		}
	}
	clear(r.session.journal)
	clear(r.charges)
	r.readCharges(charges)
}

// Entry implements ledger.Tx. It looks at the latest pages first.
func (r *allRows) Entry(p ledger.Place) (e ledger.Entry, known bool) {
	for _, page := range r.latest {
		if e, known = page[p]; known {
			return e, true
		}
	}
	return r.session.Entry(p)
}

// Ref implements ledger.Tx. A reference of the page at hand takes no query.
func (r *allRows) Ref(ref string) (ledger.Place, bool) {
	if p, known := r.refs[ref]; known {
		return p, true
	}
	return r.session.Ref(ref)
}

// Lots implements ledger.Tx. The lots are kept with the account, until that of another user is read, so they can be
// gone over several times.
func (r *allRows) Lots(u imagegen.UserID) iter.Seq[ledger.Lot] {
	return func(yield func(ledger.Lot) bool) {
		for of := range r.lots.rowsOf(u) {
			if _, err := r.takeLot(of.user, of.form); err != nil {
				panic(kv.Damage{Err: err})
			}
		}
		for _, l := range r.account(u).sorted(func(l *lot) bool { return l.known }, byNumber) {
			if !yield(l) {
				return
			}
		}
	}
}

// Usage implements ledger.Tx, but gives all rows of the user, whatever the days, and only once.
func (r *allRows) Usage(u imagegen.UserID, _, _ time.Time) iter.Seq[ledger.Usage] {
	return func(yield func(ledger.Usage) bool) {
		for of := range r.usage.rowsOf(u) {
			var row ledger.Usage
			if err := kv.Decode(of.form, &row, ledgerkv.UsageForm); err != nil {
				panic(kv.Damage{Err: err})
			}
			if !yield(row) {
				return
			}
		}
	}
}

// KeyTotals implements ledger.Rows, but gives the rows only once.
func (r *allRows) KeyTotals(u imagegen.UserID) iter.Seq[ledger.KeyTotal] {
	return func(yield func(ledger.KeyTotal) bool) {
		for of := range r.totals.rowsOf(u) {
			var t ledger.KeyTotal
			if err := kv.Decode(of.form, &t, ledgerkv.TotalForm); err != nil {
				panic(kv.Damage{Err: err})
			}
			if !yield(t) {
				return
			}
		}
	}
}

// everyCharge reads charges with their entries. The join is an outer one: a charge whose entry is missing has to be
// found.
const everyCharge = `select c.id, c.usr, c.seq, j.form from imagegend.charges c left join imagegend.journal j on j.usr = c.usr and j.seq = c.seq`

// Charges implements ledger.Rows.
func (r *allRows) Charges() iter.Seq[imagegen.ChargeID] {
	return r.chargesOf("charges", everyCharge+` order by id`)
}

// chargesOf goes over the charges of a query, which are read page by page, so that asking for each takes no query. name
// tells its cursor from others.
func (r *allRows) chargesOf(name, sql string) iter.Seq[imagegen.ChargeID] {
	return func(yield func(imagegen.ChargeID) bool) {
		for page := range newWalk(r.session, name, sql).pages() {
			r.forget()
			for _, row := range page {
				r.takeCharge(row)
			}
			for _, row := range page {
				if !yield(imagegen.ChargeID(row.name)) {
					return
				}
			}
		}
	}
}

// Refs implements ledger.Rows. Each page brings the entries of its references.
func (r *allRows) Refs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for page := range newWalk(r.session, "refs",
			`select ref, usr, seq, form from imagegend.journal where ref is not null order by ref`).pages() {
			r.forget()
			r.refs = make(map[string]ledger.Place)
			for _, row := range page {
				r.refs[string(row.name)] = row.place()
				if e, err := ledger.DecodeEntry(row.form); err == nil {
					r.session.journal[row.place()] = e
				}
			}
			for _, row := range page {
				if !yield(string(row.name)) {
					return
				}
			}
		}
	}
}

// forget drops what was read of charges and entries, which would otherwise grow with the tables.
func (r *allRows) forget() {
	clear(r.session.journal)
	clear(r.charges)
	r.latest = [2]map[ledger.Place]ledger.Entry{}
}

// readCharges reads some charges with their entries; those that are not found are noted as unknown.
func (r *allRows) readCharges(ids []imagegen.ChargeID) {
	for _, id := range ids {
		r.charges[id] = new(charge)
	}
	if len(ids) == 0 {
		return
	}
	r.query(func(rows pgx.Rows) error { return scanStored(rows, r.takeCharge) }, everyCharge+` where c.id = any($1)`,
		list(ids...))
}

// takeCharge takes a charge as its entry has it. One whose entry is missing, cannot be read, or is about another
// charge, is damaged: Charge tells so when it is asked for.
func (r *allRows) takeCharge(row stored) {
	c := &charge{known: true}
	r.charges[imagegen.ChargeID(row.name)] = c
	if row.form == nil {
		c.damaged = errors.New("postgres: the charge's entry is missing")
		return
	}
	e, err := ledger.DecodeEntry(row.form)
	if err == nil && (e.Leads() == nil || string(e.Charge) != string(row.name)) {
		err = errOfAnother
	}
	if c.damaged = err; err == nil {
		c.Charge = *e.Leads()
		r.session.journal[c.Place] = e
	}
}

// Charge implements ledger.Tx. For a charge that is damaged it panics with a kv.Damage, as any Tx does.
func (r *allRows) Charge(id imagegen.ChargeID) (ledger.Charge, bool) {
	if r.charges[id] == nil {
		r.readCharges([]imagegen.ChargeID{id})
	}
	c := r.charges[id]
	if c.damaged != nil {
		panic(kv.Damage{Err: c.damaged})
	}
	return c.Charge, c.known
}

// Clock implements ledger.Tx, with the time of the latest entry.
func (r *allRows) Clock() clock.Mark { return r.latestMark() }

// latestMark returns what was written down of the clock, with the time of the latest entry of its epoch. No row has
// that time (session.Clock), so it is read from the journal.
func (s *session) latestMark() clock.Mark {
	m := s.Clock()
	m.Written = time.Time{}
	var at *int64
	s.scan(func() {}, []any{&at}, `select max(at) from imagegend.journal where epoch = $1`, int64(m.Epoch))
	if at != nil {
		m.Written = time.Unix(0, *at).UTC()
	}
	return m
}

// uncreated is allRows with only those charges that have no generation.
type uncreated struct{ *allRows }

// Charges implements ledger.Rows.
func (r uncreated) Charges() iter.Seq[imagegen.ChargeID] {
	return r.chargesOf("uncreated", everyCharge+
		` where not exists (select from imagegend.generations g where g.id = c.id) order by id`)
}
