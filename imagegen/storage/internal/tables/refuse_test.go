package tables_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// everything is what a database holds.
func everything(t *testing.T, d *db) map[kv.Bucket]map[string]string {
	t.Helper()
	all := make(map[kv.Bucket]map[string]string)
	is.New(t).NoErr(d.kv.View(t.Context(), func(tx kv.Tx) error {
		for _, b := range []kv.Bucket{"generations", "generations.open", "generations.ends", "generations.listed",
			"ledger.journal", "ledger.charges", "ledger.lots", "ledger.accounts", "ledger.clock"} {
			all[b] = make(map[string]string)
			tx.Ascend(b, nil, func(key, value []byte) bool {
				all[b][string(key)] = string(value)
				return true
			})
		}
		return nil
	}))
	return all
}

// A write after which record and charge would not fit is refused, whatever went wrong before it, and
// nothing of it stands.
func TestWritesThatDoNotFitTheirCharge(t *testing.T) {
	finish := func(t *testing.T, d *db, r imagegen.Record) error {
		_, err := d.FinishSettled(t.Context(), r.Fence(), outcomeOf(r))
		return err
	}
	release := func(t *testing.T, d *db, r imagegen.Record) error {
		_, err := d.Update(t.Context(), r.Fence(), imagegen.ReleaseChange{})
		return err
	}
	for name, test := range map[string]struct {
		harm  func(*testing.T, *db, kv.Tx, imagegen.Record)
		write func(*testing.T, *db, imagegen.Record) error
		rule  string
	}{
		"settled by another": {func(t *testing.T, d *db, tx kv.Tx, r imagegen.Record) {
			is.New(t).NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Settle(r.Charge().ID, 3))
		}, release, "generation charge"},
		"the charge is lost": {func(_ *testing.T, _ *db, tx kv.Tx, r imagegen.Record) {
			tx.Delete("ledger.charges", kv.Key(string(r.ID)))
		}, release, "generation charge"},
		"the price has changed": {func(t *testing.T, _ *db, tx kv.Tx, r imagegen.Record) {
			alter(t, tx, r.ID, func(r *tables.Row) { r.N = 1 })
		}, finish, "generation charge"},
		"the user has changed": {func(t *testing.T, _ *db, tx kv.Tx, r imagegen.Record) {
			alter(t, tx, r.ID, func(r *tables.Row) { r.User = "carol" })
		}, finish, "generation charge"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := open(t, kvtest.New())
			d.accept(t, 1, true)
			rs, _, err := d.Claim(t.Context(), imagegen.ClaimRequest{Most: 1})
			is.NoErr(err)
			is.NoErr(d.kv.Update(t.Context(), func(tx kv.Tx) error {
				test.harm(t, d, tx, rs[0])
				return nil
			}))
			before := everything(t, d)
			v, _ := errors.AsType[imagegen.Violation](test.write(t, d, rs[0]))
			is.Equal(v.Rule, test.rule)
			is.Equal(v.Subject, string(rs[0].ID))
			is.Equal(cmp.Diff(before, everything(t, d)), "")
		})
	}
}

// A record that is not sound from the beginning is not taken in.
func TestUnsoundRecordsAreNotCreated(t *testing.T) {
	is := is.New(t)
	d := open(t, kvtest.New())
	r := recordNo(1, true)
	r.Published = 1
	before := everything(t, d)
	_, err := d.Create(t.Context(), r, time.Hour)
	is.True(errors.Is(err, imagegen.ErrNotApplied))
	_, err = d.CreateCharged(t.Context(), r, time.Hour)
	is.True(errors.Is(err, imagegen.ErrNotApplied))
	is.Equal(cmp.Diff(before, everything(t, d)), "")
}
