package ledger

import (
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// lot is a lot as it is stored. Its number is the sequence of the entry that made it and its place
// among the lots of that entry.
type lot struct {
	imagegen.Lot
	seq   uint64
	place uint64
}

func lotID(seq, place uint64) string { return fmt.Sprintf("lot_%d_%d", seq, place) }

// number tells lots apart, in the order in which they were made.
func (l lot) number() []byte { return kv.Key(l.seq, l.place) }

// key sorts the lots of a user in the order in which they burn: lowest priority, earliest expiry,
// promotional first, earliest effective, as they were made.
func (l lot) key() []byte {
	paid := byte(1)
	if l.Promo {
		paid = 0
	}
	return kv.Key(string(l.User), byte(l.Priority), kv.TimeKey(l.Expires), paid, kv.TimeKey(l.Effective), l.seq, l.place)
}

const lotVersion = 1

func (l lot) encode() []byte {
	w := make(kv.Writer, 0, 96)
	w.Uint(lotVersion)
	w.Uint(l.seq)
	w.Uint(l.place)
	w.String(string(l.User))
	for _, c := range []imagegen.Credits{l.Granted, l.Remaining, l.Held, l.Spent, l.Expired, l.Revoked, l.Moved} {
		w.Int(int64(c))
	}
	w.Bool(l.Promo)
	w.Uint(uint64(l.Priority))
	w.Time(l.Effective)
	w.Time(l.Expires)
	w.String(l.Ref)
	return w
}

func decodeLot(b []byte) (l lot, err error) {
	r := kv.NewReader(b)
	if v := r.Uint(); v != lotVersion {
		return l, fmt.Errorf("ledger: a lot has the unknown version %d", v)
	}
	l.seq, l.place = r.Uint(), r.Uint()
	l.ID, l.User = lotID(l.seq, l.place), imagegen.UserID(r.String())
	for _, c := range []*imagegen.Credits{&l.Granted, &l.Remaining, &l.Held, &l.Spent, &l.Expired, &l.Revoked, &l.Moved} {
		*c = imagegen.Credits(r.Int())
	}
	l.Promo, l.Priority, l.Effective, l.Expires, l.Ref = r.Bool(), int(r.Uint()), r.Time(), r.Time(), r.String()
	if err := r.Err(); err != nil {
		return l, fmt.Errorf("ledger: a lot cannot be read: %w", err)
	}
	return l, nil
}

// lapsed reports whether the lot can no longer be spent at the given time.
func (l lot) lapsed(now time.Time) bool { return !l.Expires.IsZero() && !now.Before(l.Expires) }

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

// putLot writes a lot that before was as given, into the bucket where it belongs, and keeps the
// expiry indexes.
func putLot(tx kv.Tx, before, after lot) {
	key := after.key()
	if after.Remaining > 0 {
		tx.Put(live, key, after.encode())
	} else {
		tx.Put(spent, key, after.encode())
	}
	was, is := before.Remaining > 0, after.Remaining > 0
	if was && !is {
		tx.Delete(live, key)
	}
	if is && !was {
		tx.Delete(spent, key)
	}
	if after.Expires.IsZero() {
		return
	}
	addLapsing(tx, after, after.Remaining-before.Remaining)
	mine := kv.Key(string(after.User), kv.TimeKey(after.Expires), after.number())
	all := kv.Key(kv.TimeKey(after.Expires), string(after.User), after.number())
	switch {
	case is && !was:
		tx.Put(lapsing, mine, key)
		tx.Put(due, all, key)
	case was && !is:
		tx.Delete(lapsing, mine)
		tx.Delete(due, all)
	}
}

// addLapsing keeps the sum of what lapses with a lot.
func addLapsing(tx kv.Tx, l lot, change imagegen.Credits) {
	if change == 0 {
		return
	}
	key := kv.Key(string(l.User), kv.TimeKey(l.Expires))
	sum := decodeSum(tx.Get(lapseSum, key)) + change
	if sum == 0 {
		tx.Delete(lapseSum, key)
		return
	}
	w := kv.Writer{}
	w.Int(int64(sum))
	tx.Put(lapseSum, key, w)
}

func decodeSum(b []byte) imagegen.Credits {
	if b == nil {
		return 0
	}
	return imagegen.Credits(kv.NewReader(b).Int())
}
