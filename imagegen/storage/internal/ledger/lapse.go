package ledger

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// lapseBatch is the most lots that one entry, and one call of Lapse, writes off.
const lapseBatch = 500

// Lapse writes off up to 500 lots whose time has come, whosever they are, and remembers the time;
// more tells whether others may be due. It is meant for a background loop: what lapsed no longer
// counts anyway, whether or not Lapse runs.
func (l *Ledger) Lapse(ctx context.Context) (more bool, err error) {
	err = l.update(ctx, func(b Books) error {
		lapsed, n, err := b.allDue(lapseBatch)
		if err != nil {
			return err
		}
		more = n == lapseBatch
		for _, u := range slices.Sorted(maps.Keys(lapsed)) {
			if err := b.writeOff(u, lapsed[u]); err != nil {
				return err
			}
		}
		return b.rememberTime()
	})
	return more && err == nil, err
}

// LapseAll writes off all lots whose time has come.
func (l *Ledger) LapseAll(ctx context.Context) error {
	for {
		more, err := l.Lapse(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// allDue finds up to n lots that are due, of all users, those due first first.
func (b Books) allDue(n int) (lapsed map[imagegen.UserID][]line, found int, err error) {
	lapsed = make(map[imagegen.UserID][]line)
	b.tx.Ascend(due, nil, func(key, lotKey []byte) bool {
		if found == n || b.now.Before(timeOfKey(key)) {
			return false
		}
		var l lot
		if l, err = getLot(b.tx, lotKey); err != nil {
			return false
		}
		lapsed[l.User] = append(lapsed[l.User], line{lot: lotKey, took: l.Remaining})
		found++
		return true
	})
	return lapsed, found, err
}

// lapse writes off what a user's lots have lost by this time.
func (b Books) lapse(u imagegen.UserID) error {
	var lines []line
	var err error
	eachLapsing(b.tx, u, func(at time.Time, _ imagegen.Credits) bool {
		if b.now.Before(at) {
			return false
		}
		var more []line
		more, err = b.dueAt(at, u)
		lines = append(lines, more...)
		return err == nil
	})
	if err != nil {
		return err
	}
	return b.writeOff(u, lines)
}

// dueAt finds a user's lots that lapse at one moment.
func (b Books) dueAt(at time.Time, u imagegen.UserID) (lines []line, err error) {
	prefix := kv.Key(kv.TimeKey(at), string(u))
	b.tx.Ascend(due, prefix, func(key, lotKey []byte) bool {
		if !bytes.HasPrefix(key, prefix) {
			return false
		}
		var l lot
		if l, err = getLot(b.tx, lotKey); err == nil {
			lines = append(lines, line{lot: lotKey, took: l.Remaining})
		}
		return err == nil
	})
	return lines, err
}

func (b Books) writeOff(u imagegen.UserID, lapsed []line) error {
	for lines := range slices.Chunk(lapsed, lapseBatch) {
		e := entry{Entry: imagegen.Entry{Kind: imagegen.EntryExpire, User: u}, lines: lines}
		for _, l := range lines {
			e.Credits -= l.took
		}
		if _, err := b.record(e); err != nil {
			return err
		}
	}
	return nil
}

// enter records an entry of a user, behind what its lots have lost by this time.
func (b Books) enter(e entry) (entry, error) {
	if err := b.lapse(e.User); err != nil {
		return e, err
	}
	return b.record(e)
}
