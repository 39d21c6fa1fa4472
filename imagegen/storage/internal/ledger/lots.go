package ledger

import (
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// getLot returns the lot of a key, live or not.
func getLot(tx kv.Tx, key []byte) (lot, error) {
	b := tx.Get(live, key)
	if b == nil {
		b = tx.Get(spent, key)
	}
	if b == nil {
		return lot{}, fmt.Errorf("ledger: lot %x is missing; run an audit", key)
	}
	return decodeLot(b)
}

// lotNamed returns the user's lot of an identifier, by way of the entry that made it.
func lotNamed(tx kv.Tx, u imagegen.UserID, id string) (l lot, known bool, err error) {
	var seq, place uint64
	if _, err := fmt.Sscanf(id, "lot_%d_%d", &seq, &place); err != nil || lotID(seq, place) != id || tx.Get(journal, kv.Key(seq)) == nil {
		return l, false, nil
	}
	e, err := readEntry(tx, kv.Key(seq))
	if err != nil || e.User != u || place >= uint64(len(e.lots)) {
		return l, false, err
	}
	l, err = getLot(tx, e.lots[place].key())
	return l, err == nil, err
}

// eachLot goes over a user's lots in one bucket, in the order in which they burn.
func eachLot(tx kv.Tx, in kv.Bucket, u imagegen.UserID, f func(lot) bool) (err error) {
	ascendUser(tx, in, u, func(_, value []byte) bool {
		l, bad := decodeLot(value)
		if bad != nil {
			err = bad
			return false
		}
		return f(l)
	})
	return err
}

// putLot writes a lot that before was as given, into the bucket where it belongs, and keeps the
// indexes of what lapses.
func putLot(tx kv.Tx, before, after lot) {
	key := after.key()
	was, is := before.Remaining > 0, after.Remaining > 0
	if is {
		tx.Put(live, key, after.encode())
	} else {
		tx.Put(spent, key, after.encode())
	}
	switch {
	case was && !is:
		tx.Delete(live, key)
	case is && !was:
		tx.Delete(spent, key)
	}
	if after.Expires.IsZero() {
		return
	}
	addLapsing(tx, after, after.Remaining-before.Remaining)
	switch {
	case is && !was:
		tx.Put(due, after.dueKey(), key)
	case was && !is:
		tx.Delete(due, after.dueKey())
	}
}

// addLapsing keeps the sum of what lapses with a lot.
func addLapsing(tx kv.Tx, l lot, change imagegen.Credits) {
	if change == 0 {
		return
	}
	key := l.sumKey()
	sum := decodeSum(tx.Get(lapseSum, key)) + change
	if sum == 0 {
		tx.Delete(lapseSum, key)
		return
	}
	var w kv.Writer
	w.Int(int64(sum))
	tx.Put(lapseSum, key, w)
}

func decodeSum(b []byte) imagegen.Credits {
	if b == nil {
		return 0
	}
	return imagegen.Credits(kv.NewReader(b).Int())
}
