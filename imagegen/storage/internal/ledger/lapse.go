package ledger

import (
	"bytes"
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// lapse writes off what a user's lots have lost by this time, lapseBatch lots to an entry.
func (b Books) lapse(u imagegen.UserID) error {
	for {
		lines, err := b.dueLots(u)
		if err != nil || len(lines) == 0 {
			return err
		}
		e := entry{Entry: imagegen.Entry{Kind: imagegen.EntryExpire, User: u}, lines: lines}
		for _, l := range lines {
			e.Credits -= l.took
		}
		if _, err := b.record(e); err != nil || len(lines) < lapseBatch {
			return err
		}
	}
}

// lapseBatch is the most lots that one entry writes off.
const lapseBatch = 500

func (b Books) dueLots(u imagegen.UserID) (lines []line, err error) {
	prefix := userKey(u)
	b.tx.Ascend(lapsing, prefix, func(key, lotKey []byte) bool {
		if !bytes.HasPrefix(key, prefix) || b.now.Before(timeOfKey(key[len(prefix):])) || len(lines) == lapseBatch {
			return false
		}
		var l lot
		if l, err = getLot(b.tx, lotKey); err != nil {
			return false
		}
		lines = append(lines, line{lot: bytes.Clone(lotKey), took: l.Remaining})
		return true
	})
	return lines, err
}

// Lapse writes off what one user has lost, and remembers the time; more tells whether others may be
// due. It is meant for a background loop: whether it runs changes no balance.
func (l *Ledger) Lapse(ctx context.Context) (more bool, err error) {
	if err := l.remember(ctx); err != nil {
		return false, err
	}
	u, found, err := l.nextDue(ctx)
	if err != nil || !found {
		return false, err
	}
	return true, l.update(ctx, func(b Books) error { return b.lapse(u) })
}

func (l *Ledger) nextDue(ctx context.Context) (u imagegen.UserID, found bool, err error) {
	err = l.view(ctx, func(b Books) (err error) {
		found = false
		b.tx.Ascend(due, nil, func(key, lotKey []byte) bool {
			if b.now.Before(timeOfKey(key)) {
				return false
			}
			var owner lot
			if owner, err = getLot(b.tx, lotKey); err == nil {
				u, found = owner.User, true
			}
			return false
		})
		return err
	})
	return u, found, err
}

// rememberEvery is how often the time is written down, so that an idle ledger's age is no jump.
const rememberEvery = time.Hour

func (l *Ledger) remember(ctx context.Context) error {
	now := l.Now()
	if _, doubt := l.ClockInDoubt(); doubt {
		return nil
	}
	return l.db.Update(ctx, func(tx kv.Tx) error {
		if now.Sub(readSeen(tx)) >= rememberEvery {
			writeSeen(tx, now)
		}
		return nil
	})
}
