package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// longestJump is how far the wall clock may run ahead of the time that has really passed.
const longestJump = 24 * time.Hour

// clock is the ledger's time. A wall clock that jumps ahead would lapse credits that nobody can
// bring back, so a jump beyond longestJump is not believed until an operator confirms it; until
// then time goes on from where it was.
type clock struct {
	wall func() time.Time

	mu      sync.Mutex
	trusted time.Time // by the wall, when it was last believed; zero: nothing to compare with
	at      time.Time // the same moment, with a monotonic reading
}

func (c *clock) now() time.Time {
	now, _ := c.read()
	return now
}

// read returns the ledger's time, and how far the wall clock is ahead of it if that is in doubt.
func (c *clock) read() (now time.Time, jump time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall := c.wall().UTC().Round(0)
	if c.trusted.IsZero() {
		c.set(wall)
		return wall, 0
	}
	expected := c.trusted.Add(time.Since(c.at))
	if jump := wall.Sub(expected); jump > longestJump {
		return expected, jump
	}
	c.set(wall)
	return wall, 0
}

func (c *clock) set(wall time.Time) { c.trusted, c.at = wall, time.Now() }

// trust begins with a time that was written down; zero if there is none.
func (c *clock) trust(last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !last.IsZero() {
		c.set(last)
	}
}

// ClockInDoubt reports whether the wall clock is ahead of the ledger's time by more than 24 hours
// that nobody has confirmed, and by how much. Until then nothing lapses.
func (l *Ledger) ClockInDoubt() (jump time.Duration, doubt bool) {
	_, jump = l.clock.read()
	return jump, jump > 0
}

// ConfirmClock believes the wall clock, and records that in the journal.
func (l *Ledger) ConfirmClock(ctx context.Context) error {
	wall := l.clock.wall().UTC().Round(0)
	err := l.db.Update(ctx, func(tx kv.Tx) error {
		b := l.At(tx, wall)
		_, err := b.record(entry{Entry: imagegen.Entry{Kind: entryClock}})
		return err
	})
	if err == nil {
		l.clock.trust(wall)
	}
	return err
}

func readSeen(tx kv.Tx) time.Time {
	b := tx.Get(seenAt, only)
	if b == nil {
		return time.Time{}
	}
	return kv.NewReader(b).Time()
}

func writeSeen(tx kv.Tx, now time.Time) {
	w := kv.Writer{}
	w.Time(now)
	tx.Put(seenAt, only, w)
}
