package ledger

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

var _ imagegen.DailyUsage = (*Ledger)(nil)

// applyDay adds what a settlement used to its day.
func applyDay(tx kv.Tx, e entry) {
	if e.Kind != imagegen.EntrySettle || e.Used == 0 {
		return
	}
	addSpent(tx, dayKey(e.User, e.Time), e.Used)
}

func addSpent(tx kv.Tx, key []byte, c imagegen.Credits) {
	w := make(kv.Writer, 0, 16)
	w.Int(int64(decodeSum(tx.Get(days, key)) + c))
	tx.Put(days, key, w)
}

const day = 24 * time.Hour

// dayKey stands for a day by its seconds since 1970, which no day before that needs to have.
func dayKey(u imagegen.UserID, at time.Time) []byte {
	return kv.Key(string(u), uint64(max(0, at.UTC().Truncate(day).Unix())))
}

// Days implements imagegen.DailyUsage.
func (l *Ledger) Days(ctx context.Context, u imagegen.UserID, from, to time.Time) (spent []imagegen.Day, err error) {
	if !u.Valid() {
		return nil, nil
	}
	first, prefix := dayKey(u, from), len(userKey(u))
	err = l.view(ctx, func(b Books) error {
		spent = nil
		b.tx.Ascend(days, first, func(key, sum []byte) bool {
			if len(key) != len(first) || string(key[:prefix]) != string(first[:prefix]) {
				return false
			}
			d := imagegen.Day{Date: time.Unix(int64(binary.BigEndian.Uint64(key[prefix:])), 0).UTC(), Spent: decodeSum(sum)}
			if !d.Date.Before(to) {
				return false
			}
			spent = append(spent, d)
			return true
		})
		return nil
	})
	return spent, err
}

// countedAtOnce bounds what one transaction of CountDays holds.
const countedAtOnce = 50_000

// CountDays makes the days of a ledger that was written before they were kept, of so many entries of
// the journal as one transaction should hold, beginning at from. next is where to go on; nil: it has
// come to the end.
func CountDays(tx kv.Tx, from []byte) (next []byte, err error) {
	return countDays(tx, from, countedAtOnce)
}

func countDays(tx kv.Tx, from []byte, most int) (next []byte, err error) {
	spent, n := map[string]imagegen.Credits{}, 0
	tx.Ascend(journal, from, func(at, stored []byte) bool {
		if n++; n > most {
			next = slices.Clone(at)
			return false
		}
		var e entry
		if e, err = decodeEntry(stored); err == nil && e.Kind == imagegen.EntrySettle && e.Used != 0 {
			spent[string(dayKey(e.User, e.Time))] += e.Used
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(spent)) { // in order: a tree in a transaction splits only at its end
		addSpent(tx, []byte(key), spent[key])
	}
	return next, nil
}
