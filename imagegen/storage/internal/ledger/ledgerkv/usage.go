package ledgerkv

import (
	"bytes"
	"iter"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// Usage implements ledger.Tx. A user's rows are sorted by key, then by day. So it goes from key to key, and reads of
// each only the days that are wanted.
func (r rows) Usage(u imagegen.UserID, from, to time.Time) iter.Seq[ledger.Usage] {
	return func(yield func(ledger.Usage) bool) {
		for k := range r.keysOf(u) {
			for row := range r.KeyUsage(u, k, from, to) {
				if !yield(row) {
					return
				}
			}
		}
	}
}

// DayUsage implements ledger.Tx, by the index of days.
func (r rows) DayUsage(day time.Time) iter.Seq[ledger.Usage] {
	return func(yield func(ledger.Usage) bool) {
		for key := range usageDays.Keys(r.Tx, dayKey(day)) {
			row, known := get(r.Tx, usageIn, key, usageForm)
			if !known {
				panic(damaged(usageIn, key))
			}
			if !yield(row) {
				return
			}
		}
	}
}

// keysOf goes over the API keys of which a user has usage; the empty one is among them. It looks at one row of each
// and skips the others.
func (r rows) keysOf(u imagegen.UserID) iter.Seq[imagegen.KeyID] {
	return func(yield func(imagegen.KeyID) bool) {
		user := kv.Key(string(u))
		for from, more := user, true; more; {
			var id []byte
			more = false
			r.Keys(usageIn, from, func(key []byte) bool {
				rest, mine := bytes.CutPrefix(key, user)
				id, _, more = bytes.Cut(rest, only)
				more = more && mine
				return false
			})
			if more && !yield(imagegen.KeyID(id)) {
				return
			}
			from = append(slices.Concat(user, id), 1) // behind all of this key's
		}
	}
}

func (r rows) KeyUsage(u imagegen.UserID, k imagegen.KeyID, from, to time.Time) iter.Seq[ledger.Usage] {
	return func(yield func(ledger.Usage) bool) {
		mine := kv.Key(string(u), string(k))
		end := slices.Concat(mine, dayKey(to))
		r.Tx.Ascend(usageIn, slices.Concat(mine, dayKey(from)), func(key, value []byte) bool {
			return bytes.Compare(key, end) < 0 && yield(decoded(usageIn, value, usageForm))
		})
	}
}

func (r rows) UsageRow(k ledger.UsageKey) ledger.Usage {
	row, known := get(r.Tx, usageIn, usageKey(k), usageForm)
	if !known {
		row.UsageKey = k
	}
	return row
}

func (r rows) KeyTotal(u imagegen.UserID, k imagegen.KeyID) ledger.KeyTotal {
	t, known := get(r.Tx, keysIn, kv.Key(string(u), string(k)), totalForm)
	if !known {
		t.User, t.Key = u, k
	}
	return t
}

func (r rows) KeyTotals(u imagegen.UserID) iter.Seq[ledger.KeyTotal] {
	return func(yield func(ledger.KeyTotal) bool) {
		r.ascend(keysIn, u, nil, func(_, value []byte) bool { return yield(decoded(keysIn, value, totalForm)) })
	}
}
