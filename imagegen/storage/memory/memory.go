// Package memory keeps everything in memory: generations, credits, users, keys, sign-ins
// and images. Nothing survives the process. It is meant for tests and for trying things out.
//
// It implements the contracts of package imagegen with maps and slices, independently of
// the default storage, and shares with it only the rules of credits, of what may be
// created, and of the audit trail. So it also serves to check those contracts: both
// storages pass the suites of storagetest. Images and references are held in memory as a
// whole. The cost of a call may grow with the amount of data.
//
// One lock guards everything but images and references: that of the ledger's rows,
// [ledger.Memory]. Everything else runs within its transactions, so a charge and a change
// of a record are one commit here too. Writes to the maps of this package are not
// rolled back, so they come last in a transaction, when nothing can fail any more.
//
// A method whose comment says only which interface it implements adds nothing to that
// interface's contract.
package memory

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// Options configure a DB. The zero value is a good choice.
type Options struct {
	Now func() time.Time // the wall clock, which the DB checks as imagegen.Timekeeper describes; nil: time.Now
}

// DB implements everything that an engine and an operator need:
//
//   - [imagegen.TxStore], which includes users and keys
//   - [imagegen.CreditAdmin], which commits together with it: Charge, Settle, Grant, Revoke, Lots, History
//   - [imagegen.ImageStore] and [imagegen.Spool]
//   - [account.LoginStore], [account.OperatorKeyStore] and [account.TrailStore]
//   - [imagegen.Inspector], [imagegen.TotalsKeeper], [imagegen.FeedKeeper] and [imagegen.Timekeeper]
//
// It is safe for concurrent use, starts no goroutine and need not be closed.
type DB struct {
	*store
	books
	timekeeper
	trailStore
	images
	spool
	trail *trails
}

// The embedded interfaces have lower-case names, so that callers cannot reach the parts of a DB.
type (
	books      = imagegen.CreditAdmin
	timekeeper = imagegen.Timekeeper
	trailStore = account.TrailStore
)

var (
	_ imagegen.TxStore      = (*DB)(nil)
	_ imagegen.Inspector    = (*DB)(nil)
	_ imagegen.TotalsKeeper = (*DB)(nil)
	_ imagegen.FeedKeeper   = (*DB)(nil)
	_ account.LoginStore    = (*DB)(nil)
	_ imagegen.CreditAdmin  = (*DB)(nil)
	_ account.TrailStore    = (*DB)(nil)
	_ imagegen.ImageStore   = (*DB)(nil)
	_ imagegen.Spool        = (*DB)(nil)
	_ imagegen.Timekeeper   = (*DB)(nil)
	_ imagegen.OneProcess   = (*DB)(nil)
)

// OneProcess implements [imagegen.OneProcess].
func (*DB) OneProcess() {}

// New returns an empty DB. opts may be nil.
func New(opts *Options) *DB {
	now := time.Now
	if opts != nil && opts.Now != nil {
		now = opts.Now
	}
	var books *ledger.Ledger
	trail := newTrails(func() time.Time { return books.Now() })
	books, err := ledger.New(trail.rows, now)
	if err != nil {
		panic(err) // cannot happen: it only reads an empty map
	}
	return &DB{store: newStore(trail.rows, books), books: books, timekeeper: books, trailStore: trail, trail: trail}
}

// Joins implements [imagegen.TxStore]. It is true only for this DB itself, not for a wrapper around it.
func (db *DB) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(db) }

// Audit implements [imagegen.Inspector]. Nothing is written while it runs.
func (db *DB) Audit(ctx context.Context) (r imagegen.AuditReport, err error) {
	err = db.store.rows.Look(ctx, func(rows ledger.Rows) error {
		counts, err := ledger.Audit(ctx, rows, r.Add)
		if err != nil {
			return err
		}
		r.Entries, r.Accounts, r.Lots, r.Charges = counts.Entries, counts.Accounts, counts.Lots, counts.Charges
		r.Generations, r.TrailRows = len(db.generations), len(db.trail.kept)
		sums := make(rules.Totals)
		for _, g := range db.generations {
			sums.Add(g.TotalsKey(), g.Record.Totals())
			db.auditGeneration(ctx, rows, g, &r)
		}
		for k, t := range db.totals {
			sums.Add(k, imagegen.Totals{}.Minus(t))
		}
		sums.Check(r.Add)
		if len(db.generations) > 0 { // else the books serve another store
			exists := func(g imagegen.GenerationID) bool { return db.generations[g] != nil }
			rules.Uncreated(ctx, rows, exists, r.Add)
		}
		return ctx.Err()
	})
	return r, err
}

// auditGeneration checks a generation by itself, and compares it with its charge, its images and its references.
func (db *DB) auditGeneration(ctx context.Context, rows ledger.Rows, g *generation, r *imagegen.AuditReport) {
	rules.Found(r.Add, g.ID, g.Check())
	rules.Found(r.Add, g.ID, rules.Charged(rows, g.Record, g.joint))
	for _, f := range rules.Images(g.Record) {
		r.Images++
		violation := imagegen.Violation{Rule: "image bytes", Subject: string(f.Key.Image)}
		if b, err := db.images.OpenImage(ctx, f.Key); err != nil {
			violation.Detail = "there are none"
			r.Add(violation)
		} else if wrong := f.Compare(b); wrong != nil {
			violation.Detail = "it " + wrong.Error()
			r.Add(violation)
		}
	}
	for _, f := range rules.References(g.Record) {
		b, err := db.spool.Open(ctx, f.Upload)
		if err != nil {
			continue // another Spool may keep it
		}
		if wrong := f.Compare(b); wrong != nil {
			r.Add(imagegen.Violation{Rule: "reference bytes", Subject: string(f.Upload), Detail: "it " + wrong.Error()})
		}
	}
}
