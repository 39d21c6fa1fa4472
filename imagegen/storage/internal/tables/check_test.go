package tables_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/memkv"
	"github.com/matryer/is"
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
	d := open(t, memkv.New())
	d.all(t)
	is.Equal(len(d.check(t)), 0)
	r, err := d.Audit(t.Context())
	is.NoErr(err)
	is.Equal(r.Generations, 10)
}

// Every defect that is planted is found.
func TestCheckFinds(t *testing.T) {
	ended, succeeded := kv.Bucket("generations.ended"), recordNo(3, false)
	forget := func(b kv.Bucket, r imagegen.Record) func(*testing.T, *db, kv.Tx) {
		return func(t *testing.T, _ *db, tx kv.Tx) {
			tx.Delete(b, findKey(t, tx, b, string(r.ID)))
		}
	}
	settle := func(used imagegen.Credits, r imagegen.Record) func(*testing.T, *db, kv.Tx) {
		return func(t *testing.T, d *db, tx kv.Tx) {
			is.New(t).NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Settle(r.Charge().ID, used))
		}
	}
	change := func(b kv.Bucket, r imagegen.Record, old, new string) func(*testing.T, *db, kv.Tx) {
		return func(t *testing.T, _ *db, tx kv.Tx) {
			v := tx.Get(b, []byte(r.ID))
			is.New(t).True(bytes.Contains(v, []byte(old)))
			tx.Put(b, []byte(r.ID), bytes.Replace(v, []byte(old), []byte(new), 1))
		}
	}
	for name, c := range map[string]struct {
		plant func(*testing.T, *db, kv.Tx)
		rule  string
	}{
		"intent lost":   {forget("generations.intents", succeeded), "index"},
		"progress lost": {forget(ended, succeeded), "generation record"},
		"progress cut short": {func(_ *testing.T, _ *db, tx kv.Tx) {
			v := tx.Get(ended, []byte(succeeded.ID))
			tx.Put(ended, []byte(succeeded.ID), v[:len(v)-1])
		}, "generation record"},
		"progress of another form": {change(ended, succeeded, "\x01", "\x09"), "generation record"},
		"progress twice":           {copyTo(ended, "generations.open", succeeded), "index"},
		"progress in a wrong place": {func(t *testing.T, d *db, tx kv.Tx) {
			copyTo(ended, "generations.open", succeeded)(t, d, tx)
			tx.Delete(ended, []byte(succeeded.ID))
		}, "index"},
		"progress of nothing": {func(_ *testing.T, _ *db, tx kv.Tx) { tx.Put(ended, []byte("gen_none"), []byte{1}) }, "index"},
		"another state":       {change(ended, succeeded, "succeeded", "erasingxx"), "index"},
		"failed with images":  {change(ended, succeeded, "\x09succeeded", "\x06failed"), "outcome"},
		"image of another":    {change(ended, succeeded, "image_00000000000000000000000003", "image_00000000000000000000000004"), "image record"},
		"image without type":  {change(ended, succeeded, "\x09image/png", "\x00"), "image record"},

		"list entry lost":      {forget("generations.listed", succeeded), "index"},
		"list entry too many":  {func(_ *testing.T, _ *db, tx kv.Tx) { tx.Put("generations.listed", listKey(succeeded.ID), []byte{1}) }, "index"},
		"list entry of none":   {func(_ *testing.T, _ *db, tx kv.Tx) { tx.Put("generations.listed", listKey("gen_none"), []byte{1}) }, "index"},
		"list entry malformed": {func(_ *testing.T, _ *db, tx kv.Tx) { tx.Put("generations.listed", []byte("x"), []byte{1}) }, "index"},
		"prompt entry lost":    {forget("generations.prompts", recordNo(4, false)), "index"},
		"prompt entry too many": {func(_ *testing.T, _ *db, tx kv.Tx) {
			tx.Put("generations.prompts", kv.Key(uint64(7), []byte(succeeded.ID)), []byte{1})
		}, "index"},
		"queue entry lost": {forget("queue.due", recordNo(9, true)), "index"},
		"queue entry twice": {func(_ *testing.T, _ *db, tx kv.Tx) {
			tx.Put("queue.due", kv.Key("alice", recordNo(9, true).Model, byte(7), []byte(recordNo(9, true).ID)), []byte{1})
		}, "index"},
		"delayed entry lost": {forget("queue.delayed", recordNo(8, true)), "index"},
		"turn lost":          {func(_ *testing.T, _ *db, tx kv.Tx) { tx.Delete("queue.turns", kv.Key("alice")) }, "queue"},
		"turn that never comes": {func(_ *testing.T, _ *db, tx kv.Tx) {
			tx.Delete("queue.ring", kv.Key(recordNo(9, true).Model, tx.Get("queue.turns", kv.Key("alice"))))
		}, "queue"},
		"turn of another's": {func(_ *testing.T, _ *db, tx kv.Tx) {
			tx.Put("queue.ring", kv.Key(recordNo(9, true).Model, tx.Get("queue.turns", kv.Key("alice"))), kv.Key("bob"))
		}, "queue"},
		"turn for nothing": {func(_ *testing.T, _ *db, tx kv.Tx) {
			tx.Put("queue.ring", kv.Key(recordNo(9, true).Model, uint64(77)), kv.Key("bob"))
			tx.Put("queue.turns", kv.Key("bob"), kv.Key(uint64(77)))
		}, "queue"},
		"reservation lost": {func(_ *testing.T, _ *db, tx kv.Tx) { tx.Delete("generations.reserved", reservedKey("alice", "k3")) }, "index"},
		"reservation of another's": {func(_ *testing.T, _ *db, tx kv.Tx) {
			tx.Put("generations.reserved", reservedKey("bob", "k3"), []byte(succeeded.ID))
		}, "index"},

		"charge lost": {forget("ledger.charges", succeeded), "generation charge"},
		"charge of nothing, open": {func(t *testing.T, d *db, tx kv.Tx) {
			is.New(t).NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Charge(recordNo(11, true).Charge()))
		}, "generation charge"},
		"charge of nothing, spent": {func(t *testing.T, d *db, tx kv.Tx) {
			c := recordNo(11, true).Charge()
			is.New(t).NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Charge(c))
			is.New(t).NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Settle(c.ID, 3))
		}, "generation charge"},
		"charge damaged": {func(_ *testing.T, _ *db, tx kv.Tx) {
			tx.Put("ledger.charges", kv.Key(string(succeeded.ID)), []byte{0})
		}, "generation charge"},
		"charge of an open one":   {settle(3, recordNo(2, false)), "generation charge"},
		"another price":           {change("generations.intents", succeeded, "\x04\x00\x00", "\x02\x00\x00"), "generation charge"},
		"an image was not paid":   {unsettled(0), "credits spent"},
		"an image was paid twice": {unsettled(6), "credits spent"},
		"charge still open": {func(t *testing.T, d *db, tx kv.Tx) {
			tx.Delete("ledger.charges", kv.Key(string(succeeded.ID)))
			is.New(t).NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Charge(succeeded.Charge()))
		}, "generation charge"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := open(t, memkv.New())
			d.all(t)
			_, err := d.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 20})
			is.NoErr(err)
			is.NoErr(d.kv.Update(t.Context(), func(tx kv.Tx) error {
				c.plant(t, d, tx)
				return nil
			}))
			rules := strings.Join(d.check(t), ", ")
			is.True(strings.Contains(rules, c.rule))
		})
	}
}

// Charges that are no generation's are none of the tables' business, nor are those of a ledger that
// serves another store, nor what was voided.
func TestCheckLeavesOtherCharges(t *testing.T) {
	is := is.New(t)
	d := open(t, memkv.New())
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
		is.NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Charge(c))
		is.NoErr(d.At(ledgerkv.Rows(tx), d.Read()).Settle(c.ID, used))
	}
}

func listKey(id imagegen.GenerationID) []byte { return kv.Key("alice", byte(1), []byte(id)) }

func copyTo(from, to kv.Bucket, r imagegen.Record) func(*testing.T, *db, kv.Tx) {
	return func(_ *testing.T, _ *db, tx kv.Tx) { tx.Put(to, []byte(r.ID), tx.Get(from, []byte(r.ID))) }
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

// reservedKey is where the index has an idempotency key.
func reservedKey(user, key string) []byte {
	hash := imagegen.IdempotencyHash(key)
	return kv.Key(user, hash[:])
}
