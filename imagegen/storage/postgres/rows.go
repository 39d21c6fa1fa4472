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

// allRows are the rows of the ledger, as an audit reads them: each table once, from its beginning to its end, in pages, so
// that the number of queries does not grow with the number of users, and no user's rows are held longer than needed.
type allRows struct {
	*session
	user                         imagegen.UserID // whose rows are read
	journal, lots, usage, totals *walk
	refs                         map[string]ledger.Place
	latest                       [2]map[ledger.Place]ledger.Entry // of the page of the journal that is gone over, and of the one before
}

var _ ledger.Rows = (*allRows)(nil)

func newAllRows(s *session) *allRows {
	r := &allRows{session: s,
		journal: newWalk(s, "journal", `select ref, usr, seq, form from imagegend.journal order by usr, seq`),
		lots:    newWalk(s, "lots", `select null::bytea, usr, lot, form from imagegend.lots order by usr, lot`),
		usage:   newWalk(s, "usage", `select null::bytea, usr, day, form from imagegend.usage order by usr, key, day, model`),
		totals:  newWalk(s, "totals", `select null::bytea, usr, 0::bigint, form from imagegend.totals order by usr, key`),
	}
	r.journal.turned = r.turnTo
	return r
}

// Users implements ledger.Rows. The system's account has the empty name, and comes first.
func (r *allRows) Users() iter.Seq[imagegen.UserID] {
	return func(yield func(imagegen.UserID) bool) {
		if r.Account("").Seq > 0 && !yield("") {
			return
		}
		for page := range r.named() {
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

// named goes over users who have rows of whatever kind.
func (r *allRows) named() iter.Seq[[]imagegen.UserID] {
	return func(yield func([]imagegen.UserID) bool) {
		for last := (imagegen.UserID)(""); ; {
			var page []imagegen.UserID
			r.query(func(rows pgx.Rows) error {
				var user []byte
				return each(rows, func() error { page = append(page, imagegen.UserID(user)); return nil }, &user)
			}, `select usr from (
 (select usr from imagegend.accounts where usr > $1 and seq > 0 order by usr limit $2) union
 (select distinct usr from imagegend.journal where usr > $1 order by usr limit $2) union
 (select distinct usr from imagegend.lots where usr > $1 order by usr limit $2) union
 (select distinct usr from imagegend.usage where usr > $1 order by usr limit $2)) u order by usr limit $2`, bytesOf([]byte(last)), pageOf)
			if len(page) == 0 || !yield(page) {
				return
			}
			last = page[len(page)-1]
		}
	}
}

// Journal implements ledger.Rows.
func (r *allRows) Journal(u imagegen.UserID) iter.Seq2[ledger.Entry, error] {
	return func(yield func(ledger.Entry, error) bool) {
		for of := range r.journal.of(u) {
			e, err := ledger.DecodeEntry(of.form)
			if err == nil && (e.User != u || int64(e.Seq) != of.number) {
				err = errors.New("postgres: it lies in the place of another")
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

// turnTo reads beforehand what entries of the journal are held against.
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
	r.ask(charges)
}

// Entry implements ledger.Tx.
func (r *allRows) Entry(p ledger.Place) (e ledger.Entry, known bool) {
	for _, page := range r.latest {
		if e, known = page[p]; known {
			return e, true
		}
	}
	return r.session.Entry(p)
}

// Ref implements ledger.Tx.
func (r *allRows) Ref(ref string) (ledger.Place, bool) {
	if p, known := r.refs[ref]; known {
		return p, true
	}
	return r.session.Ref(ref)
}

// Lots implements ledger.Tx. Those of the user whose rows are read are kept until another's are.
func (r *allRows) Lots(u imagegen.UserID) iter.Seq[ledger.Lot] {
	return func(yield func(ledger.Lot) bool) {
		for of := range r.lots.of(u) {
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

// Usage implements ledger.Tx: all of it, once.
func (r *allRows) Usage(u imagegen.UserID, _, _ time.Time) iter.Seq[ledger.Usage] {
	return func(yield func(ledger.Usage) bool) {
		for of := range r.usage.of(u) {
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

// KeyTotals implements ledger.Rows: once.
func (r *allRows) KeyTotals(u imagegen.UserID) iter.Seq[ledger.KeyTotal] {
	return func(yield func(ledger.KeyTotal) bool) {
		for of := range r.totals.of(u) {
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

const everyCharge = `select c.id, c.usr, c.seq, j.form from imagegend.charges c left join imagegend.journal j on j.usr = c.usr and j.seq = c.seq`

// Charges implements ledger.Rows.
func (r *allRows) Charges() iter.Seq[imagegen.ChargeID] {
	return r.chargesOf("charges", everyCharge+` order by id`)
}

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

// Refs implements ledger.Rows.
func (r *allRows) Refs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for page := range newWalk(r.session, "refs", `select ref, usr, seq, form from imagegend.journal where ref is not null order by ref`).pages() {
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

// forget forgets what was read of charges and entries.
func (r *allRows) forget() {
	clear(r.session.journal)
	clear(r.charges)
	r.latest = [2]map[ledger.Place]ledger.Entry{}
}

// ask reads charges.
func (r *allRows) ask(ids []imagegen.ChargeID) {
	for _, id := range ids {
		r.charges[id] = new(charge)
	}
	if len(ids) == 0 {
		return
	}
	r.query(func(rows pgx.Rows) error { return scanStored(rows, r.takeCharge) }, everyCharge+` where c.id = any($1)`, list(ids...))
}

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

// Charge implements ledger.Tx. A charge whose entry is missing, or of another, is damaged.
func (r *allRows) Charge(id imagegen.ChargeID) (ledger.Charge, bool) {
	if r.charges[id] == nil {
		r.ask([]imagegen.ChargeID{id})
	}
	c := r.charges[id]
	if c.damaged != nil {
		panic(kv.Damage{Err: c.damaged})
	}
	return c.Charge, c.known
}

// Clock implements ledger.Tx: with the time of the latest entry of its epoch.
func (r *allRows) Clock() clock.Mark { return r.latestMark() }

// latestMark is the clock as it was written down, with the time of the latest entry of its epoch.
func (s *session) latestMark() clock.Mark {
	m := s.Clock()
	m.Written = time.Time{}
	s.query(func(rows pgx.Rows) error {
		var at *int64
		return each(rows, func() error {
			if at != nil {
				m.Written = time.Unix(0, *at).UTC()
			}
			return nil
		}, &at)
	}, `select max(at) from imagegend.journal where epoch = $1`, int64(m.Epoch))
	return m
}

// uncreated are rows whose charges are those without a generation.
type uncreated struct{ *allRows }

// Charges implements ledger.Rows.
func (r uncreated) Charges() iter.Seq[imagegen.ChargeID] {
	return r.chargesOf("uncreated", everyCharge+` where not exists (select from imagegend.generations g where g.id = c.id) order by id`)
}
