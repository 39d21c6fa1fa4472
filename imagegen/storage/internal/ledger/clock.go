package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// longestJump is how far the wall clock may run ahead of the time that has really passed.
const longestJump = 24 * time.Hour

// clock is the ledger's time, which never runs backwards. A wall clock that jumps ahead would lapse
// credits that nobody can bring back, so a jump beyond longestJump is not believed until an
// operator confirms it; until then time goes on from where it was.
type clock struct {
	wall func() time.Time

	mu   sync.Mutex
	last time.Time // the latest time that was told or written down; zero: nothing to compare with
	at   time.Time // when that was, with a monotonic reading
}

func (c *clock) now() time.Time {
	now, _ := c.read()
	return now
}

// read returns the ledger's time, and how far the wall clock is ahead of it if that is in doubt.
func (c *clock) read() (now time.Time, jump time.Duration) {
	wall := c.readWall()
	c.mu.Lock()
	defer c.mu.Unlock()
	expected := c.last.Add(time.Since(c.at))
	switch jump = wall.Sub(expected); {
	case !c.last.IsZero() && jump > longestJump:
		c.set(expected)
		return expected, jump
	case wall.After(c.last):
		c.set(wall)
	}
	return c.last, 0
}

// trust takes a time that was written down for the present one, unless a later one was told.
func (c *clock) trust(written time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if written.After(c.last) {
		c.set(written)
	}
}

func (c *clock) set(now time.Time) { c.last, c.at = now, time.Now() }

func (c *clock) readWall() time.Time { return c.wall().UTC().Round(0) }

// ClockInDoubt reports whether the wall clock is ahead of the ledger's time by more than 24 hours
// that nobody has confirmed, and by how much. Until then credits lapse only by the time that has
// really passed.
func (l *Ledger) ClockInDoubt() (jump time.Duration, doubt bool) {
	_, jump = l.clock.read()
	return jump, jump > 0
}

// ConfirmClock believes the wall clock, and records that in the journal. Where nothing is in doubt
// it does nothing.
func (l *Ledger) ConfirmClock(ctx context.Context) error {
	if _, doubt := l.ClockInDoubt(); !doubt {
		return nil
	}
	wall := l.clock.readWall()
	confirmed := trail.Change{Target: "clock", After: trail.Fields("now", wall)}
	err := trail.Act(ctx, l.db, wall, imagegen.ActClockConfirm, func(tx kv.Tx) (trail.Change, error) {
		_, err := l.At(tx, wall).record(entry{Entry: imagegen.Entry{Kind: entryClock}})
		return confirmed, err
	})
	if err == nil {
		l.clock.trust(wall)
	}
	return err
}

// seenAt is no state of the ledger and in no journal: when the clock was last seen running.
const seenAt kv.Bucket = "clock.seen"

func readSeen(tx kv.Tx) time.Time {
	b := tx.Get(seenAt, only)
	if b == nil {
		return time.Time{}
	}
	return kv.NewReader(b).Time()
}

// rememberEvery is how often the time is written down, so that an idle ledger's age is no jump.
const rememberEvery = time.Hour

func (b Books) rememberTime() {
	if b.now.Sub(readSeen(b.tx)) < rememberEvery {
		return
	}
	var w kv.Writer
	w.Time(b.now)
	b.tx.Put(seenAt, only, w)
}
