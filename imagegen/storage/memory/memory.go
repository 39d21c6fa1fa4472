// Package memory keeps everything in memory: generations, credits, users, keys, sign-ins
// and images. Nothing of it survives the process. It is meant for tests and for trying
// things out.
//
// It implements the contracts of package imagegen with maps and slices, independently of
// the default storage, and shares with that only the rules of credits and of what may be
// created. Images and references are held in memory as a whole. The cost of a call may
// grow with the amount of data.
package memory

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// Options configure a DB. The zero value is good.
type Options struct {
	Now func() time.Time // the wall clock, which is judged; nil: time.Now
}

// DB implements everything that an engine and an operator need:
//
//   - [imagegen.JointStore], which includes users and keys
//   - [imagegen.CreditAdmin], which commits together with it: Charge, Settle, Grant, Revoke, Lots, History
//   - [imagegen.ImageStore] and [imagegen.Spool]
//   - [account.LoginStore], [account.TrailStore], [imagegen.Inspector] and [imagegen.Timekeeper]
//
// It is safe for concurrent use and need not be closed.
type DB struct {
	*store
	*logins
	*operatorKeys
	*passkeys
	*identities
	books
	timekeeper
	trailStore
	images
	spool
	trail *trails
}

// The embedded interfaces have lower-case names: what DB is made of is nobody else's business.
type (
	books      = imagegen.CreditAdmin
	timekeeper = imagegen.Timekeeper
	trailStore = account.TrailStore
)

var (
	_ imagegen.JointStore  = (*DB)(nil)
	_ imagegen.Inspector   = (*DB)(nil)
	_ account.LoginStore   = (*DB)(nil)
	_ imagegen.CreditAdmin = (*DB)(nil)
	_ account.TrailStore   = (*DB)(nil)
	_ imagegen.ImageStore  = (*DB)(nil)
	_ imagegen.Spool       = (*DB)(nil)
	_ imagegen.Timekeeper  = (*DB)(nil)
)

// New returns an empty DB. opts may be nil.
func New(opts *Options) *DB {
	now := time.Now
	if opts != nil && opts.Now != nil {
		now = opts.Now
	}
	trail := newTrails(now)
	books, err := ledger.New(trail.rows, now)
	if err != nil {
		panic(err) // it reads an empty map
	}
	s := newStore(trail.rows, books)
	return &DB{store: s, logins: newLogins(s), operatorKeys: newOperatorKeys(s), passkeys: newPasskeys(s), identities: newIdentities(s), books: books, timekeeper: books, trailStore: trail, trail: trail}
}

// Joins implements [imagegen.JointStore]: only with this DB itself, not with a wrapper around it.
func (db *DB) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(db) }

// Audit implements [imagegen.Inspector]. Nothing is written while it runs.
func (db *DB) Audit(ctx context.Context) (r imagegen.AuditReport, err error) {
	err = db.store.rows.Look(ctx, func(rows ledger.Rows) error {
		counts, err := ledger.Check(ctx, rows, r.Add)
		if err != nil {
			return err
		}
		r.Entries, r.Accounts, r.Lots, r.Charges = counts.Entries, counts.Accounts, counts.Lots, counts.Charges
		r.Generations, r.TrailRows = len(db.generations), len(db.trail.kept)
		for _, g := range db.generations {
			db.check(rows, g, &r)
		}
		db.unreturned(rows, &r)
		return ctx.Err()
	})
	return r, err
}

// check holds a generation against itself, its charge, its images and its references.
func (db *DB) check(rows ledger.Rows, g *generation, r *imagegen.AuditReport) {
	add(r, g.Check())
	add(r, rules.Charged(rows, g.Record, g.joint))
	if g.State != imagegen.StateErasing {
		for _, i := range g.Images {
			r.Images++
			db.images.check(g.ImageKey(i), i, r.Add)
		}
	}
	if rules.Waits(g.Record) {
		for _, f := range g.References {
			db.spool.check(f, r.Add)
		}
	}
}

func add(r *imagegen.AuditReport, err error) {
	if v, ok := errors.AsType[imagegen.Violation](err); ok {
		r.Add(v)
	}
}

// unreturned reports charges of generations that are not there, unless there is none at all: then the
// books serve another store.
func (db *DB) unreturned(rows ledger.Rows, r *imagegen.AuditReport) {
	ledger.Unreturned(rows, func(id imagegen.ChargeID) bool {
		if g := imagegen.GenerationID(id); g.Valid() && db.generations[g] == nil && len(db.generations) > 0 {
			r.Add(imagegen.Violation{Rule: "generation charge", Subject: string(g), Detail: "it was charged, and does not exist"})
		}
		return true
	})
}
