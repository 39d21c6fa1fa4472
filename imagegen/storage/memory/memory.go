// Package memory keeps everything in memory: generations, credits, users, keys, sign-ins and images.
// Nothing of it survives the process. It is meant for tests and for trying things out.
//
// It is no imitation: the tables and the ledger are those of the default storage, over maps in the
// place of a file. Images and references are held whole.
package memory

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/memkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Options configure a DB. The zero value is good.
type Options struct {
	Now func() time.Time // the wall clock, which is judged; nil: time.Now
}

// DB is an [imagegen.JointStore], which holds users and keys too, and the [imagegen.CreditAdmin] that
// commits with it: Charge, Settle, Grant, Revoke, Lots, History. It is an [imagegen.ImageStore],
// [imagegen.Spool], [imagegen.LoginStore], [imagegen.DailyUsage], [imagegen.Inspector],
// [imagegen.Timekeeper], [imagegen.TrailStore] and [imagegen.Auditor] as well. It is safe for concurrent use and needs
// no closing.
type DB struct {
	store
	inspector
	logins
	books
	dailyUsage
	trails
	timekeeper
	images
	spool
	kv *memkv.DB
}

// The embedded interfaces have lower-case names: what DB is made of is nobody else's business.
type (
	store  = imagegen.JointStore
	logins = imagegen.LoginStore
	books  = imagegen.CreditAdmin

	dailyUsage = imagegen.DailyUsage
	inspector  = imagegen.Inspector
	timekeeper = imagegen.Timekeeper
	trails     = imagegen.TrailStore
)

var (
	_ imagegen.JointStore  = (*DB)(nil)
	_ imagegen.Inspector   = (*DB)(nil)
	_ imagegen.LoginStore  = (*DB)(nil)
	_ imagegen.CreditAdmin = (*DB)(nil)
	_ imagegen.DailyUsage  = (*DB)(nil)
	_ imagegen.TrailStore  = (*DB)(nil)
	_ imagegen.ImageStore  = (*DB)(nil)
	_ imagegen.Spool       = (*DB)(nil)
	_ imagegen.Auditor     = (*DB)(nil)
	_ imagegen.Timekeeper  = (*DB)(nil)
)

// New returns an empty DB. opts may be nil.
func New(opts *Options) *DB {
	now := time.Now
	if opts != nil && opts.Now != nil {
		now = opts.Now
	}
	db := memkv.New()
	l, err := ledgerkv.New(db, now)
	if err != nil {
		panic(err) // it reads an empty map
	}
	t := tables.New(db, l)
	return &DB{store: t, inspector: t, logins: t, books: l, dailyUsage: l, timekeeper: l, trails: trail.New(db, now), kv: db}
}

// Joins implements [imagegen.JointStore]: only with this DB itself, not with a wrapper around it.
func (db *DB) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(db) }

// Audit implements [imagegen.Auditor]. Nothing is written while it runs.
func (db *DB) Audit(ctx context.Context) (r imagegen.AuditReport, err error) {
	err = db.kv.View(ctx, func(tx kv.Tx) error {
		counts, err := ledgerkv.Check(ctx, tx, r.Add)
		if err != nil {
			return err
		}
		r.Entries, r.Accounts, r.Lots, r.Charges = counts.Entries, counts.Accounts, counts.Lots, counts.Charges
		if r.Generations, err = tables.Check(ctx, tx, r.Add); err != nil {
			return err
		}
		if r.TrailRows, err = trail.Check(ctx, tx, r.Add); err != nil {
			return err
		}
		if err := db.spool.check(tx, r.Add); err != nil {
			return err
		}
		return tables.Images(tx, func(k imagegen.ImageKey, i imagegen.StoredImage) error {
			r.Images++
			db.images.check(k, i, r.Add)
			return ctx.Err()
		})
	})
	return r, err
}
