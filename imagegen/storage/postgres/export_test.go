package postgres

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// Trips tells how many round trips the transactions that have ended took, and how many there were.
func (db *DB) Trips() (trips, transactions int64) { return db.trips.Load(), db.commits.Load() }

// SettleAtOnce settles a charge to one amount after the other in one batch.
func (db *DB) SettleAtOnce(id imagegen.ChargeID, amounts ...imagegen.Credits) (errs []error) {
	var batch []*call
	for _, used := range amounts {
		batch = append(batch, &call{need: need{charges: []imagegen.ChargeID{id}}, done: make(chan struct{}),
			run: func(s *session) error { return db.books.At(s, s.at).Settle(id, used) }})
	}
	db.committer.do(batch)
	for _, c := range batch {
		errs = append(errs, c.err)
	}
	return errs
}

// RefundBeside settles a charge to nothing in a transaction that has to lock another user's account, too.
func (db *DB) RefundBeside(id imagegen.ChargeID, u imagegen.UserID) error {
	c := &call{need: need{users: []imagegen.UserID{u}, charges: []imagegen.ChargeID{id}}, done: make(chan struct{}),
		run: func(s *session) error { return db.books.At(s, s.at).Settle(id, 0) }}
	db.committer.do([]*call{c})
	return c.err
}

// SpoilAtOnce charges one after the other in one batch, in which the last one fails after it has written.
func (db *DB) SpoilAtOnce(charges ...imagegen.Charge) (errs []error) {
	var batch []*call
	for n, c := range charges {
		batch = append(batch, &call{need: need{users: []imagegen.UserID{c.User}, charges: []imagegen.ChargeID{c.ID}}, done: make(chan struct{}),
			run: func(s *session) error {
				err := db.books.At(s, s.at).Charge(c, imagegen.Key{})
				if err == nil && n == len(charges)-1 {
					err = imagegen.ErrNotFound
				}
				return err
			}})
	}
	db.committer.do(batch)
	for _, c := range batch {
		errs = append(errs, c.err)
	}
	return errs
}

// Retried is retried.
var Retried = retried

// Settings are what holds in each transaction that writes.
var Settings = begin + "; " + settings

// PageQuery is pageQuery.
var PageQuery = pageQuery

// CountAudit is an audit that tells how many round trips it took.
func (db *DB) CountAudit(ctx context.Context) (imagegen.AuditReport, int, error) {
	a, err := db.auditRows(ctx)
	return a.report, a.trips, err
}

// CreateBesideAbandon creates a record, abandons an intent and creates another record, in one batch.
func (db *DB) CreateBesideAbandon(first imagegen.Record, abandoned imagegen.Fence, second imagegen.Record) (errs []error) {
	create := func(r imagegen.Record) *call {
		return &call{need: createNeeds(r), done: make(chan struct{}), run: func(s *session) error {
			if err := rules.Asked(asked{s}, r); err != nil {
				return err
			}
			_, err := s.replace(tables.Row{}, tables.Row{Record: r}, time.Minute)
			return err
		}}
	}
	abandon := &call{need: need{rows: []imagegen.GenerationID{abandoned.ID}}, done: make(chan struct{}), run: func(s *session) error {
		from, to, _, err := s.apply(abandoned, imagegen.Abandon{})
		if err == nil {
			_, err = s.replace(from, to, 0)
		}
		return err
	}}
	batch := []*call{create(first), abandon, create(second)}
	db.committer.do(batch)
	for _, c := range batch {
		errs = append(errs, c.err)
	}
	return errs
}

// ChargeAtOnce charges one after the other in one batch.
func (db *DB) ChargeAtOnce(charges ...imagegen.Charge) (errs []error) {
	var batch []*call
	for _, c := range charges {
		batch = append(batch, &call{need: need{users: []imagegen.UserID{c.User}, charges: []imagegen.ChargeID{c.ID}, billed: map[keyOf]bool{{c.User, c.Key}: true}},
			done: make(chan struct{}), run: func(s *session) error { return db.books.At(s, s.at).Charge(c, imagegen.Key{}) }})
	}
	db.committer.do(batch)
	for _, c := range batch {
		errs = append(errs, c.err)
	}
	return errs
}

// ExpireAll writes off what has expired, as upkeep does.
func (db *DB) ExpireAll(ctx context.Context) error { return db.books.ExpireAll(ctx) }

// NotBegun is notBegun.
var NotBegun = notBegun

// Undone is undone.
var Undone = undone
