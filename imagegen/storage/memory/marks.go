package memory

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// Secret implements [account.LoginStore].
func (s *store) Secret(ctx context.Context) ([32]byte, error) {
	return read(ctx, s, func() ([32]byte, error) { return s.secret, nil })
}

// Mark implements [account.LoginStore].
func (s *store) Mark(ctx context.Context, now time.Time, keys [][32]byte, change func([]time.Time) bool) error {
	return s.rows.Update(ctx, func(ledger.Tx) error {
		until := make([]time.Time, len(keys))
		for i, key := range keys {
			if s.marks[key].After(now) {
				until[i] = s.marks[key]
			}
		}
		if !change(until) {
			return nil
		}
		for i, key := range keys {
			s.marks[key] = until[i]
		}
		for key, t := range s.marks {
			if !t.After(now) {
				delete(s.marks, key)
			}
		}
		return nil
	})
}
