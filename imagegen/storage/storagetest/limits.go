package storagetest

import (
	"errors"
	"strings"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
)

// limited makes a key of alice's with limits.
func (j *joint) limited(k imagegen.KeyID, l imagegen.KeyLimits) {
	j.t.Helper()
	j.is.NoErr(j.CreateKey(j.t.Context(), imagegen.Key{ID: k, User: alice, Name: "ci", Hash: [32]byte{byte(len(k)),
		k[len(k)-1]}, CreatedAt: epoch, Limits: l}))
}

// overKey checks that a record is refused for a limit of its key, which is named, and that nothing was written.
func (j *joint) overKey(want error, n int, change ...func(*imagegen.Record)) {
	j.t.Helper()
	r := recordNo(n, change...)
	_, err := j.CreateCharged(j.t.Context(), r, aMinute)
	j.is.True(errors.Is(err, want))
	j.is.True(strings.Contains(err.Error(), string(r.KeyID))) // names the key
	j.unwritten(r.ID, err)
}

// Each of a key's limits counts what the key was charged, without refunds.
func testCreateWithin(j *joint) {
	j.limited("key_all", imagegen.KeyLimits{Credits: 4})
	j.limited("key_day", imagegen.KeyLimits{Daily: 4})
	j.limited("key_month", imagegen.KeyLimits{Monthly: 4})
	j.limited("key_free", imagegen.KeyLimits{})
	for i, k := range []imagegen.KeyID{"key_all", "key_day", "key_month"} {
		n := 10 * i
		r := j.createCharged(n, synchronous, costs(3, 1), askedBy(k))
		j.overKey(imagegen.ErrInsufficientCredits, n+1, synchronous, costs(2, 1), askedBy(k))
		j.finish(r, imagesOf(r, 1)) // two came back
		other := j.createCharged(n+2, synchronous, costs(3, 1), askedBy(k))
		j.createCharged(n+2, synchronous, costs(3, 1), askedBy(k)) // a repetition counts once
		j.overKey(imagegen.ErrInsufficientCredits, n+3, synchronous, costs(1, 1), askedBy(k))
		j.createCharged(n+4, synchronous, costs(1, 1), askedBy("key_free")) // another key's are others
		j.finish(other, refused(other))

		_, err := j.SetKeyLimits(j.t.Context(), k, imagegen.KeyLimits{Credits: 1}) // so much it has used
		j.is.NoErr(err)
		j.overKey(imagegen.ErrInsufficientCredits, n+5, synchronous, costs(1, 1), askedBy(k))
		_, err = j.SetKeyLimits(j.t.Context(), k, imagegen.KeyLimits{})
		j.is.NoErr(err)
		r = j.createCharged(n+6, synchronous, costs(1, 1), askedBy(k))
		j.finish(r, refused(r))
	}
	j.has(10 - 3 - 3)
}

// A key has no more generations at once than it may, and gets on when one has ended.
func testCreateAtOnce(j *joint) {
	j.limited("key_1", imagegen.KeyLimits{Concurrent: 2})
	first := j.createCharged(1, synchronous, costs(1, 1), askedBy("key_1"))
	j.createCharged(2, async, costs(1, 1), askedBy("key_1"))
	j.overKey(imagegen.ErrRateLimited, 3, synchronous, costs(1, 1), askedBy("key_1"))
	j.createCharged(4, synchronous, costs(1, 1)) // no key's
	j.finish(first, imagesOf(first, 1))
	j.createCharged(3, synchronous, costs(1, 1), askedBy("key_1"))
	j.overKey(imagegen.ErrRateLimited, 5, async, costs(1, 1), askedBy("key_1"))
	j.has(6)
}

// 50 calls at once with a key for 3 credits: exactly 3 are spent.
func testCreateWithinRace(j *joint) {
	for i, l := range []imagegen.KeyLimits{{Credits: 3}, {Daily: 3}, {Monthly: 3}} {
		key := imagegen.KeyID("key_" + string(rune('a'+i)))
		j.limited(key, l)
		j.is.Equal(j.race(100*i, key, imagegen.ErrInsufficientCredits), 3)
		j.has(imagegen.Credits(10 - 3*(i+1)))
	}
}

func testCreateAtOnceRace(j *joint) {
	j.limited("key_1", imagegen.KeyLimits{Concurrent: 3})
	j.is.Equal(j.race(0, "key_1", imagegen.ErrRateLimited), 3)
	j.has(7)
}

// race creates 50 records at once for a key and returns how many were accepted. The others end with an error.
func (j *joint) race(from int, k imagegen.KeyID, other error) int {
	j.t.Helper()
	var accepted atomic.Int32
	for _, err := range together(50, func(i int) error {
		_, err := j.CreateCharged(j.t.Context(), recordNo(from+i, synchronous, costs(1, 1), askedBy(k)), aMinute)
		if err == nil {
			accepted.Add(1)
		}
		return err
	}) {
		j.is.True(err == nil || errors.Is(err, other) && imagegen.Definite(err))
	}
	return int(accepted.Load())
}

// A key, and a member, with models is charged for these alone. The commit decides: the limits may be new.
func testCreateForModels(j *joint) {
	common := recordNo(1).Model
	others := imagegen.KeyLimits{Models: []string{"other-1", "other-2"}}
	j.limited("key_1", others)
	j.limited("key_2", imagegen.KeyLimits{Models: []string{"other-1", common}})
	j.overKey(imagegen.ErrChargeRefused, 1, synchronous, costs(1, 1), askedBy("key_1"))
	j.createCharged(2, synchronous, costs(1, 1), askedBy("key_2"))
	j.member(others)
	r := recordNo(3, synchronous, costs(1, 1), bobs)
	_, err := j.CreateCharged(j.t.Context(), r, aMinute)
	j.is.True(errors.Is(err, imagegen.ErrChargeRefused))
	j.is.True(strings.Contains(err.Error(), "choose one of other-1, other-2"))
	j.unwritten(r.ID, err)
	r.Model = "other-2"
	_, err = j.CreateCharged(j.t.Context(), r, aMinute)
	j.is.NoErr(err)
	_, err = j.TxStore.Create(j.t.Context(), recordNo(4, async, askedBy("key_2")), aMinute) // needs no ledger
	j.is.NoErr(err)
}

// Where a charge is made apart nobody keeps to limits that count: a key that has some is refused.
func testCreateUnlimited(j *joint) {
	j.limited("key_1", imagegen.KeyLimits{Credits: 3})
	r := recordNo(1, async, askedBy("key_1"))
	_, err := j.TxStore.Create(j.t.Context(), r, aMinute)
	j.is.True(errors.Is(err, imagegen.ErrChargeRefused))
	j.unwritten(r.ID, err)
}
