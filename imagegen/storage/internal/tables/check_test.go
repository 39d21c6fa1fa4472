package tables_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

func (d *db) check(t *testing.T) (rules []string) {
	t.Helper()
	r, err := d.Audit(t.Context())
	is.New(t).NoErr(err)
	for _, v := range r.Violations {
		t.Logf("%s: %s: %s", v.Rule, v.Subject, v.Detail)
		rules = append(rules, v.Rule)
	}
	return rules
}

func TestCheckIsClean(t *testing.T) {
	is := is.New(t)
	d := open(t, kvtest.New())
	d.all(t)
	is.Equal(len(d.check(t)), 0)
	r, err := d.Audit(t.Context())
	is.NoErr(err)
	is.Equal(r.Generations, 10)
}

// Every defect that is planted is found.
func TestCheckFinds(t *testing.T) {
	succeeded := recordNo(3, false)
	forget := func(b kv.Bucket, r imagegen.Record) func(*testing.T, *db, kv.Tx) {
		return func(t *testing.T, _ *db, tx kv.Tx) { tx.Delete(b, findKey(t, tx, b, string(r.ID))) }
	}
	settle := func(used imagegen.Credits, r imagegen.Record) func(*testing.T, *db, kv.Tx) {
		return func(t *testing.T, d *db, tx kv.Tx) {
			is.New(t).NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Settle(r.Charge().ID, used))
		}
	}
	change := func(f func(*tables.Row)) func(*testing.T, *db, kv.Tx) {
		return func(t *testing.T, _ *db, tx kv.Tx) { alter(t, tx, succeeded.ID, f) }
	}
	for name, c := range map[string]struct {
		plant func(*testing.T, *db, kv.Tx)
		rule  string
	}{
		"record lost": {forget("generations", succeeded), "index"},
		"record cut short": {func(_ *testing.T, _ *db, tx kv.Tx) {
			v := tx.Get("generations", []byte(succeeded.ID))
			tx.Put("generations", []byte(succeeded.ID), v[:len(v)-1])
		}, "record"},
		"another state":      {change(func(r *tables.Row) { r.State = imagegen.StateErasing }), "index"},
		"failed with images": {change(func(r *tables.Row) { r.State = imagegen.StateFailed }), "outcome"},
		"image of another": {change(func(r *tables.Row) {
			r.Images[0].ID = outcomeOf(recordNo(4, false)).Images[0].ID
		}), "image record"},
		"image without type": {change(func(r *tables.Row) { r.Images[0].MediaType = "" }), "image record"},

		"not among the open ones":  {forget("generations.open", recordNo(2, false)), "index"},
		"not among the ended ones": {forget("generations.ends", succeeded), "index"},
		"not in the list":          {forget("generations.listed", succeeded), "index"},
		"prompt entry lost":        {forget("generations.prompts", recordNo(4, false)), "index"},
		"reservation lost":         {forget("generations.reserved", succeeded), "index"},
		"reservation of another's": {func(t *testing.T, _ *db, tx kv.Tx) {
			hash := imagegen.IdempotencyHash("k3")
			tx.Put("generations.reserved", kv.Key("bob", hash[:], uint64(1), []byte(succeeded.ID), byte(0),
				byte(len(succeeded.ID))), []byte{1})
		}, "index"},
		"not in the totals": {change(func(r *tables.Row) {
			r.Costs = []imagegen.AttemptCost{{Attempt: r.Attempt, Cost: 7, Reason: imagegen.CostReported}}
		}), "totals"},
		"a user lost": {func(t *testing.T, d *db, tx kv.Tx) { tx.Delete("users", kv.Key("bob")) }, "digest"},

		"charge lost": {forget("ledger.charges", succeeded), "generation charge"},
		"charge of nothing, open": {func(t *testing.T, d *db, tx kv.Tx) {
			is.New(t).NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Charge(recordNo(11, true).Charge(), ledger.Asker{}))
		}, "generation charge"},
		"charge of nothing, spent": {func(t *testing.T, d *db, tx kv.Tx) {
			c := recordNo(11, true).Charge()
			is.New(t).NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Charge(c, ledger.Asker{}))
			is.New(t).NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Settle(c.ID, 3))
		}, "generation charge"},
		"charge damaged": {func(_ *testing.T, _ *db, tx kv.Tx) {
			tx.Put("ledger.charges", kv.Key(string(succeeded.ID)), []byte{0})
		}, "generation charge"},
		"charge of an open one":   {settle(3, recordNo(2, false)), "generation charge"},
		"another price":           {change(func(r *tables.Row) { r.N = 1 }), "generation charge"},
		"an image was not paid":   {unsettled(0), "credits spent"},
		"an image was paid twice": {unsettled(6), "credits spent"},
		"charge still open": {func(t *testing.T, d *db, tx kv.Tx) {
			tx.Delete("ledger.charges", kv.Key(string(succeeded.ID)))
			is.New(t).NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Charge(succeeded.Charge(), ledger.Asker{}))
		}, "generation charge"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := open(t, kvtest.New())
			d.all(t)
			_, err := d.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 20})
			is.NoErr(err)
			is.NoErr(d.CreateUser(t.Context(), imagegen.User{ID: "bob", Name: "bob"}))
			is.NoErr(d.kv.Update(t.Context(), func(tx kv.Tx) error {
				c.plant(t, d, tx)
				return nil
			}))
			rules := strings.Join(d.check(t), ", ")
			is.True(strings.Contains(rules, c.rule))
		})
	}
}

// An audit passes over charges that belong to no generation, those of a ledger that serves another store, and voided
// ones.
func TestCheckLeavesOtherCharges(t *testing.T) {
	is := is.New(t)
	d := open(t, kvtest.New())
	_, err := d.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 20})
	is.NoErr(err)
	generation := recordNo(1, true).Charge()
	is.NoErr(d.Charge(t.Context(), generation))
	is.Equal(len(d.check(t)), 0) // of another store: there are no generations here
	is.NoErr(d.Settle(t.Context(), generation.ID, 0))
	is.NoErr(d.Charge(t.Context(), imagegen.Charge{ID: "subscription", User: "alice", Credits: 2}))
	d.accept(t, 2, true)
	is.Equal(len(d.check(t)), 0)
}

// unsettled has the charge of the generation that succeeded settled to another amount.
func unsettled(used imagegen.Credits) func(*testing.T, *db, kv.Tx) {
	return func(t *testing.T, d *db, tx kv.Tx) {
		is := is.New(t)
		c := recordNo(3, false).Charge()
		tx.Delete("ledger.charges", kv.Key(string(c.ID)))
		is.NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Charge(c, ledger.Asker{}))
		is.NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Settle(c.ID, used))
	}
}

// findKey finds the first key of a bucket in which a text stands.
func findKey(t *testing.T, tx kv.Tx, b kv.Bucket, text string) (found []byte) {
	t.Helper()
	tx.Ascend(b, nil, func(key, _ []byte) bool {
		if bytes.Contains(key, []byte(text)) {
			found = bytes.Clone(key)
		}
		return found == nil
	})
	is.New(t).True(found != nil)
	return found
}
