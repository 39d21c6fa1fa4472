package tables_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// db is tables under test, and the ledger that they join.
type db struct {
	*tables.Tables
	*ledger.Ledger
	kv kv.DB
}

func open(t testing.TB, in kv.DB) *db {
	t.Helper()
	return openWith(t, in, time.Now)
}

// openWith is open by a wall clock.
func openWith(t testing.TB, in kv.DB, wall func() time.Time) *db {
	t.Helper()
	is := is.New(t)
	books, err := ledgerkv.New(in, wall)
	is.NoErr(err)
	opened := &db{tables.New(in, books), books, in}
	is.NoErr(opened.Load(t.Context()))
	return opened
}

// Audit makes the suites check the tables.
func (d *db) Audit(ctx context.Context) (r imagegen.AuditReport, err error) {
	err = d.kv.View(ctx, func(tx kv.Tx) (err error) {
		r.Generations, err = tables.Audit(ctx, tx, func(v imagegen.Violation) {
			r.Violations = append(r.Violations, v)
		})
		return err
	})
	return r, err
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func recordNo(n int, async bool) imagegen.Record {
	return imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)), User: "alice", Model: "m",
			Prompt: "a fox", N: 2, Price: 3, Async: async, IdempotencyKey: fmt.Sprint("k", n),
			CreatedAt:  epoch.Add(time.Duration(n) * time.Second),
			References: []imagegen.ReferenceFile{{ID: imagegen.ReferenceID(fmt.Sprint("ref_", n)), Size: 1}}},
		Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1},
	}
}

func outcomeOf(r imagegen.Record) imagegen.OutcomeChange {
	id := "image_" + string(r.ID[len("gen_"):]) + fmt.Sprintf("%026d", 1)
	return imagegen.OutcomeChange{At: r.CreatedAt.Add(time.Minute),
		Images: []imagegen.StoredImage{{ID: imagegen.ImageID(id),
			Attempt: r.Attempt, MediaType: "image/png", Width: 1, Height: 1, Size: 1, CreatedAt: r.CreatedAt}}}
}

func (d *db) accept(t *testing.T, n int, async bool) imagegen.Record {
	t.Helper()
	is := is.New(t)
	_, err := d.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 6})
	is.NoErr(err)
	r, err := d.CreateCharged(t.Context(), recordNo(n, async), time.Hour)
	is.NoErr(err)
	return r
}

func (d *db) finish(t *testing.T, r imagegen.Record, o imagegen.OutcomeChange) imagegen.Record {
	t.Helper()
	is := is.New(t)
	r, err := d.FinishSettled(t.Context(), r.Fence(), o)
	is.NoErr(err)
	return r
}

func (d *db) update(t *testing.T, r imagegen.Record, c imagegen.Change) imagegen.Record {
	t.Helper()
	is := is.New(t)
	r, err := d.Update(t.Context(), r.Fence(), c)
	is.NoErr(err)
	return r
}

// all makes one generation in each state that a database can be left in.
func (d *db) all(t *testing.T) {
	t.Helper()
	is := is.New(t)
	_, err := d.Create(t.Context(), recordNo(1, true), time.Hour)
	is.NoErr(err)
	d.accept(t, 2, false)
	d.finish(t, d.accept(t, 3, false), outcomeOf(recordNo(3, false)))
	d.finish(t, d.accept(t, 4, false), imagegen.OutcomeChange{At: epoch})
	d.update(t, d.finish(t, d.accept(t, 5, false), outcomeOf(recordNo(5, false))), imagegen.EraseChange{})
	erasing := d.update(t, d.finish(t, d.accept(t, 6, false), outcomeOf(recordNo(6, false))), imagegen.EraseChange{})
	d.update(t, erasing, imagegen.PurgeChange{})
	d.update(t, d.accept(t, 7, false), outcomeOf(recordNo(7, false)))
	for n := 8; n <= 10; n++ {
		d.accept(t, n, true)
	}
	rs, _, err := d.Claim(t.Context(), imagegen.ClaimRequest{Most: 1, Lease: time.Hour})
	is.NoErr(err)
	d.update(t, rs[0], imagegen.ReleaseChange{Delay: time.Hour})
}

// alter changes a generation behind the back of its table.
func alter(t *testing.T, tx kv.Tx, id imagegen.GenerationID, change func(*tables.Row)) {
	t.Helper()
	var r tables.Row
	is.New(t).NoErr(kv.Decode(tx.Get("generations", []byte(id)), &r, tables.CodeRow))
	change(&r)
	tx.Put("generations", []byte(id), kv.Encode(&r, tables.CodeRow))
}
