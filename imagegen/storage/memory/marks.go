package memory

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// marks implements the part of account.LoginStore about the secret and the marks, in the transactions of a store.
type marks struct {
	*store
	secret [32]byte
	until  map[[32]byte]time.Time
}

func newMarks(s *store) *marks {
	m := &marks{store: s, until: make(map[[32]byte]time.Time)}
	rand.Read(m.secret[:]) // never fails
	return m
}

// Secret implements [account.LoginStore].
func (m *marks) Secret(ctx context.Context) (secret [32]byte, err error) {
	err = m.view(ctx, func() error { secret = m.secret; return nil })
	return secret, err
}

// Mark implements [account.LoginStore].
func (m *marks) Mark(ctx context.Context, now time.Time, keys [][32]byte, change func([]time.Time) bool) error {
	return m.rows.Update(ctx, func(ledger.Tx) error {
		until := make([]time.Time, len(keys))
		for i, key := range keys {
			if m.until[key].After(now) {
				until[i] = m.until[key]
			}
		}
		if !change(until) {
			return nil
		}
		for i, key := range keys {
			m.until[key] = until[i]
		}
		for key, t := range m.until {
			if !t.After(now) {
				delete(m.until, key)
			}
		}
		return nil
	})
}
