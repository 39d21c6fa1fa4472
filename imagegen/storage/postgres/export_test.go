package postgres

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
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
