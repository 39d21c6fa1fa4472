package ledger

import (
	"fmt"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// lot is a lot as it is stored. The sequence of the entry that made it and its place among the lots
// of that entry tell it from all others, and put lots in the order in which they were made.
type lot struct {
	imagegen.Lot
	seq    uint64
	place  uint64
	refund bool // of credits whose lot had lapsed
}

func (l *lot) number(seq, place uint64) { l.seq, l.place, l.ID = seq, place, lotID(seq, place) }

func lotID(seq, place uint64) string {
	return "lot_" + strconv.FormatUint(seq, 10) + "_" + strconv.FormatUint(place, 10)
}

// key sorts the lots of a user in the order in which they burn: lowest priority, earliest expiry,
// promotional first, earliest effective, as they were made.
func (l lot) key() []byte {
	paid := byte(1)
	if l.Promo {
		paid = 0
	}
	return kv.Key(string(l.User), byte(l.Priority), kv.TimeKey(l.Expires), paid, kv.TimeKey(l.Effective), l.seq, l.place)
}

// dueKey finds the lot when its time has come; sumKey, what lapses together with it.
func (l lot) dueKey() []byte { return kv.Key(kv.TimeKey(l.Expires), string(l.User), l.seq, l.place) }
func (l lot) sumKey() []byte { return kv.Key(string(l.User), kv.TimeKey(l.Expires)) }

// refundLife is how long after their first expiry credits that come back can be spent.
const refundLife = 24 * time.Hour

// refundExpires is when credits of this lot lapse that come back after it has lapsed itself. It is
// counted from the first expiry: else work that fails, again and again, would keep them for ever.
func (l lot) refundExpires() time.Time {
	if l.refund {
		return l.Expires
	}
	return l.Expires.Add(refundLife)
}

// lapsed reports whether the lot can no longer be spent at the given time.
func (l lot) lapsed(now time.Time) bool { return !l.Expires.IsZero() && !now.Before(l.Expires) }

// at is the lot as it stands at the given time, whether or not what lapsed has been written off.
func (l lot) at(now time.Time) lot {
	if l.lapsed(now) {
		l.Expired, l.Remaining = l.Expired+l.Remaining, 0
	}
	return l
}

// plus returns the lot after a change.
func (l lot) plus(change imagegen.Lot) lot {
	l.Remaining += change.Remaining
	l.Held += change.Held
	l.Spent += change.Spent
	l.Expired += change.Expired
	l.Revoked += change.Revoked
	l.Moved += change.Moved
	return l
}

// check returns an imagegen.Violation unless all that was granted is somewhere.
func (l lot) check() error {
	if !l.Granted.Valid() || !sums(l.Granted, l.Remaining, l.Held, l.Spent, l.Expired, l.Revoked, l.Moved) {
		return broken("lot sum", l.ID, "granted %d is not remaining %d + held %d + spent %d + expired %d + revoked %d + moved %d",
			l.Granted, l.Remaining, l.Held, l.Spent, l.Expired, l.Revoked, l.Moved)
	}
	return nil
}

// sums reports whether parts, none of them negative, make the whole. They are taken off it, not
// summed up: so nothing can run over.
func sums(whole imagegen.Credits, parts ...imagegen.Credits) bool {
	for _, part := range parts {
		if part < 0 || part > whole {
			return false
		}
		whole -= part
	}
	return whole == 0
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
	w.Bool(l.refund)
	return w
}

func decodeLot(b []byte) (l lot, err error) {
	r := kv.NewReader(b)
	if v := r.Uint(); v != lotVersion {
		return l, fmt.Errorf("ledger: a lot has the unknown version %d", v)
	}
	l.number(r.Uint(), r.Uint())
	l.User = imagegen.UserID(r.String())
	for _, c := range []*imagegen.Credits{&l.Granted, &l.Remaining, &l.Held, &l.Spent, &l.Expired, &l.Revoked, &l.Moved} {
		*c = imagegen.Credits(r.Int())
	}
	l.Promo, l.Priority, l.Effective, l.Expires, l.Ref = r.Bool(), int(r.Uint()), r.Time(), r.Time(), r.String()
	l.refund = r.Bool()
	if err := r.Err(); err != nil {
		return l, fmt.Errorf("ledger: a lot cannot be read: %w", err)
	}
	return l, nil
}
