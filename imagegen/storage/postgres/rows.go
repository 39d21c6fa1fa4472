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
)

// allRows are the rows of the ledger as an audit reads them: each table once, from its beginning to its end, in pages.
// So the number of queries does not grow with the number of users, and no user's rows are held longer than needed. Each
// page of users, of charges and of references is of a moment of its own (renew), so that none has to be kept for long.
//
// For that it relies on how ledger.Audit goes about it: user by user in the order of their names, first the journal,
// then the rows that follow from it, each kind once; at last all charges and all references. Asked in another order it
// would give no rows where there are some.
type allRows struct {
	*session
	user imagegen.UserID // whose rows are read
	mark clock.Mark      // of the clock, at the beginning, with the latest time of an entry that was read

	// The tables that are sorted by user, each with its own position, among the users of a page.
	entries *walk[entryRow]
	lots    *walk[ledger.Lot]
	usage   *walk[ledger.Usage]
	totals  *walk[ledger.KeyTotal]
	// refs has the references of the page at hand, of the journal or of the references.
	refs map[string]ledger.Place
	// latest has the entries of the page of the journal that is gone over, and of the one before. A settlement is held
	// against the entry of its charge, which is seldom further back; one that is takes a query.
	latest [2]map[ledger.Place]ledger.Entry
}

var _ ledger.Rows = (*allRows)(nil)

func newAllRows(s *session) *allRows {
	r := &allRows{session: s, mark: s.Clock()}
	r.mark.Written = time.Time{}
	return r
}

// walkOver declares the four walks, over the rows of the users behind one, up to another.
func (r *allRows) walkOver(after, upTo imagegen.UserID) {
	s, of := r.session, ` where usr = ''`
	if upTo != "" {
		of = ` where usr > ` + literal(string(after)) + ` and usr <= ` + literal(string(upTo))
	}
	r.entries = newWalk(s, inEntries, of+` order by usr, seq`, func(e *entryRow) imagegen.UserID { return e.User })
	r.lots = newWalk(s, inLots, of+` order by usr, lot`, func(l *ledger.Lot) imagegen.UserID { return l.User })
	r.usage = newWalk(s, inUsage, of+` order by usr, key, day, model`,
		func(u *ledger.Usage) imagegen.UserID { return u.User })
	r.totals = newWalk(s, inKeyTotals, of+` order by usr, key`,
		func(t *ledger.KeyTotal) imagegen.UserID { return t.User })
	r.entries.turned = r.turnTo
}

// Users implements ledger.Rows. The system's account has the empty name and comes first, if it has entries. The
// accounts of a page of users are read together, and each is dropped when the next user's turn comes.
func (r *allRows) Users() iter.Seq[imagegen.UserID] {
	return func(yield func(imagegen.UserID) bool) {
		if r.Account("").Seq > 0 {
			if r.walkOver("", ""); !yield("") {
				return
			}
			r.renew()
		}
		last := imagegen.UserID("")
		for page := range r.pagesOfUsers() {
			r.walkOver(last, page[len(page)-1])
			last = page[len(page)-1]
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
 (select distinct usr from imagegend.entries where usr > $1 order by usr limit $2) union
 (select distinct usr from imagegend.lots where usr > $1 order by usr limit $2) union
 (select distinct usr from imagegend.usage where usr > $1 order by usr limit $2)) u order by usr limit $2`,
				last, pageOf)
			if len(page) == 0 || !yield(page) {
				return
			}
			last = page[len(page)-1]
			r.renew()
		}
	}
}

// Journal implements ledger.Rows.
func (r *allRows) Journal(u imagegen.UserID) iter.Seq2[ledger.Entry, error] {
	return func(yield func(ledger.Entry, error) bool) {
		for row := range r.entries.rowsOf(u) {
			e := row.lift()
			if e.Epoch == r.mark.Epoch {
				r.mark = r.mark.Wrote(e.Time, e.Epoch)
			}
			r.latest[0][ledger.Place{User: u, Seq: e.Seq}] = e
			if !yield(e, nil) {
				return
			}
		}
	}
}

// turnTo is called with each page of the journal that is read. It reads beforehand what the entries of the page will be
// held against, in one query: the charges that they settle. What was read for the pages before is dropped.
func (r *allRows) turnTo(page []*entryRow) {
	r.latest = [2]map[ledger.Place]ledger.Entry{make(map[ledger.Place]ledger.Entry, len(page)), r.latest[0]}
	r.refs = make(map[string]ledger.Place)
	var charges []imagegen.ChargeID
	for _, e := range page {
		if e.Ref != "" {
			r.refs[e.Ref] = ledger.Place{User: e.User, Seq: e.Seq}
		}
		if e.Kind == imagegen.EntrySettle {
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
		for l := range r.lots.rowsOf(u) {
			r.takeLot(l)
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
	return r.usage.rowsOf(u)
}

// KeyTotals implements ledger.Rows, but gives the rows only once.
func (r *allRows) KeyTotals(u imagegen.UserID) iter.Seq[ledger.KeyTotal] {
	return r.totals.rowsOf(u)
}

// Charges implements ledger.Rows.
func (r *allRows) Charges() iter.Seq[imagegen.ChargeID] {
	return r.chargesOf(`select id from imagegend.charges c where id > $1 order by id limit $2`)
}

// chargesOf goes over the charges of a query, which are read page by page, so that asking for each takes no query.
func (r *allRows) chargesOf(sql string) iter.Seq[imagegen.ChargeID] {
	return func(yield func(imagegen.ChargeID) bool) {
		for last := imagegen.ChargeID(""); ; {
			r.forget()
			r.renew()
			page := identifiers[imagegen.ChargeID](r.session, sql, last, pageOf)
			r.readCharges(page)
			for _, last = range page {
				if !yield(last) {
					return
				}
			}
			if len(page) < pageOf {
				return
			}
		}
	}
}

// Refs implements ledger.Rows. Each page brings the entries of its references.
func (r *allRows) Refs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for last := ""; ; {
			var page []string
			r.forget()
			r.renew()
			r.refs = make(map[string]ledger.Place)
			read(r.session, scanEntries, func(e ledger.Entry) {
				at := ledger.Place{User: e.User, Seq: e.Seq}
				page, r.refs[e.Ref], r.session.journal[at] = append(page, e.Ref), at, e
			}, inEntries.from()+` where ref > $1 order by ref limit $2`, last, pageOf)
			for _, last = range page {
				if !yield(last) {
					return
				}
			}
			if len(page) < pageOf {
				return
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

// readCharges reads some charges with their entries; those that are not found are noted as unknown. One whose entry is
// missing, or is about another charge, is damaged: Charge tells so when it is asked for.
func (r *allRows) readCharges(ids []imagegen.ChargeID) {
	for _, id := range ids {
		r.charges[id] = new(charge)
	}
	if len(ids) == 0 {
		return
	}
	var b pgx.Batch
	b.Queue(`select id from imagegend.charges where id = any($1)`, list(ids...)).Query(func(rows pgx.Rows) error {
		var id imagegen.ChargeID
		return each(rows, func() error {
			r.charges[id] = &charge{known: true, damaged: errors.New("postgres: the charge's entry is missing")}
			return nil
		}, &id)
	})
	b.Queue(readCharges, list(ids...)).Query(func(rows pgx.Rows) error {
		return scanCharges(rows, func(id imagegen.ChargeID, e ledger.Entry) error {
			c := &charge{known: true}
			if leads := e.Leads(); leads == nil || e.Charge != id {
				c.damaged = errOfAnother
			} else {
				c.Charge = *leads
				r.session.journal[c.Place] = e
			}
			r.charges[id] = c
			return nil
		})
	})
	r.must(r.send(&b))
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

// Clock implements ledger.Tx, with the time of the latest entry that was read: no row has it.
func (r *allRows) Clock() clock.Mark { return r.mark }

// latestMark returns what was written down of the clock, with the time of the latest entry of its epoch. No row has
// that time (session.Clock), so it is read from the journal.
func (s *session) latestMark() clock.Mark {
	m := s.Clock()
	m.Written = time.Time{}
	s.scan(func() {}, []any{at(&m.Written)}, `select max(at) from imagegend.entries where epoch = $1`, m.Epoch)
	return m
}

// uncreated is allRows with only those charges that have no generation.
type uncreated struct{ *allRows }

// Charges implements ledger.Rows.
func (r uncreated) Charges() iter.Seq[imagegen.ChargeID] {
	return r.chargesOf(
		`select id from imagegend.charges c where id > $1 and not exists (select from imagegend.generations g where g.id = c.id) order by id limit $2`)
}
