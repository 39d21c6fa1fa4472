package tables_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
)

// Work whose charge cannot be read, or is gone, is put aside and reported, and the work behind it is claimed.
func TestUnfitChargeHoldsUpNobody(t *testing.T) {
	for name, plant := range map[string]func(kv.Tx, kv.Bucket, []byte){
		"damaged": func(tx kv.Tx, b kv.Bucket, key []byte) { tx.Put(b, key, []byte{0}) },
		"gone":    func(tx kv.Tx, b kv.Bucket, key []byte) { tx.Delete(b, key) },
	} {
		t.Run(name, func(t *testing.T) {
			is, d := is.New(t), open(t, kvtest.New())
			reports := 0
			d.OnDamage = func(error) { reports++ }
			_, err := d.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 20})
			is.NoErr(err)
			for n := range 2 {
				_, err := d.CreateCharged(t.Context(), recordNo(n, true), time.Hour)
				is.NoErr(err)
			}
			is.NoErr(d.kv.Update(t.Context(), func(tx kv.Tx) error {
				plant(tx, "ledger.charges", kv.Key(string(recordNo(0, true).ID)))
				return nil
			}))
			claimed, _, err := d.Claim(t.Context(), imagegen.ClaimRequest{Most: 2, Lease: time.Minute})
			is.NoErr(err)
			is.Equal(len(claimed), 1)
			is.Equal(claimed[0].ID, recordNo(1, true).ID)
			is.Equal(reports, 1)
		})
	}
}
