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

// allRows are the rows of the ledger, as an audit reads them: a page at a time, and no user's longer than needed.
type allRows struct{ *session }

var _ ledger.Rows = allRows{}

// pageOf is how many rows an audit reads at once.
const pageOf = 1000

// forget forgets what was read of users and charges.
func (r allRows) forget() {
	clear(r.accounts)
	clear(r.journal)
	clear(r.usage)
	clear(r.charges)
}

// Users implements ledger.Rows. The system's account has the empty name, and comes first.
func (r allRows) Users() iter.Seq[imagegen.UserID] {
	return func(yield func(imagegen.UserID) bool) {
		if r.Account("").Seq > 0 && !yield("") {
			return
		}
		r.named()(yield)
	}
}

func (r allRows) named() iter.Seq[imagegen.UserID] {
	return paged(r, `select usr from (
 (select usr from imagegend.accounts where usr > $1 and seq > 0 order by usr limit $2) union
 (select distinct usr from imagegend.journal where usr > $1 order by usr limit $2) union
 (select distinct usr from imagegend.lots where usr > $1 order by usr limit $2) union
 (select distinct usr from imagegend.usage where usr > $1 order by usr limit $2)) u order by usr limit $2`, func(imagegen.UserID) { r.forget() })
}

// Charges implements ledger.Rows.
func (r allRows) Charges() iter.Seq[imagegen.ChargeID] {
	return paged(r, `select id from imagegend.charges where id > $1 order by id limit $2`, func(imagegen.ChargeID) { r.forget() })
}

// Refs implements ledger.Rows.
func (r allRows) Refs() iter.Seq[string] {
	return paged(r, `select ref from imagegend.journal where ref > $1 order by ref limit $2`, func(string) {})
}

// paged goes over keys that are not empty.
func paged[S ~string](r allRows, sql string, before func(S)) iter.Seq[S] {
	return func(yield func(S) bool) {
		for last := []byte{}; ; {
			var page []S
			r.query(func(rows pgx.Rows) error {
				var key []byte
				return each(rows, func() error { page = append(page, S(key)); return nil }, &key)
			}, sql, last, pageOf)
			for _, k := range page {
				before(k)
				if !yield(k) {
					return
				}
			}
			if len(page) < pageOf {
				return
			}
			last = []byte(page[len(page)-1])
		}
	}
}

// Charge implements ledger.Tx. A charge whose entry is missing is damaged.
func (r allRows) Charge(id imagegen.ChargeID) (ledger.Charge, bool) {
	c, known := r.session.Charge(id)
	if known {
		return c, true
	}
	there := false
	r.query(func(rows pgx.Rows) error {
		return each(rows, func() error { there = true; return nil })
	}, `select from imagegend.charges where id = $1`, []byte(id))
	if there {
		panic(kv.Damage{Err: errors.New("postgres: the charge's entry is missing")})
	}
	return c, false
}

// Journal implements ledger.Rows.
func (r allRows) Journal(u imagegen.UserID) iter.Seq2[ledger.Entry, error] {
	return func(yield func(ledger.Entry, error) bool) {
		for after := int64(-1); ; {
			type stored struct {
				seq  int64
				form []byte
			}
			var page []stored
			r.query(func(rows pgx.Rows) error {
				var e stored
				return each(rows, func() error { page = append(page, e); return nil }, &e.seq, &e.form)
			}, `select seq, form from imagegend.journal where usr = $1 and seq > $2 order by seq limit $3`, []byte(u), after, pageOf)
			for _, p := range page {
				e, err := ledger.DecodeEntry(p.form)
				if err == nil && int64(e.Seq) != p.seq {
					err = errors.New("postgres: it lies in the place of another")
				}
				if !yield(e, err) {
					return
				}
				after = p.seq
			}
			if len(page) < pageOf {
				return
			}
		}
	}
}

// Clock implements ledger.Tx: with the time of the latest entry of its epoch.
func (r allRows) Clock() clock.Mark {
	m := r.session.Clock()
	m.Written = time.Time{}
	r.query(func(rows pgx.Rows) error {
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
type uncreated struct{ allRows }

// Charges implements ledger.Rows.
func (r uncreated) Charges() iter.Seq[imagegen.ChargeID] {
	return paged(r.allRows, `select id from imagegend.charges c where id > $1 and not exists (select from imagegend.generations g where g.id = c.id) order by id limit $2`,
		func(imagegen.ChargeID) { r.forget() })
}
