package model_test

import (
	"sync/atomic"
	"time"
)

// clock is what the service promises of its time: what ends by age ends by the time that passes, and
// no leap of the wall clock is believed that nobody confirmed.
type clock struct {
	skew    atomic.Int64 // of the wall clock, in nanoseconds
	seen    time.Time    // the time at a moment; zero: there is nothing to compare with
	at      time.Time    // that moment, by the time that really passes
	written time.Time    // the latest time in the journal since the last correction
}

const (
	tooFarAhead  = time.Hour
	tooFarBehind = 5 * time.Minute
)

// now is the time at a moment that really passes.
func (c *clock) now(real time.Time) time.Time {
	now, _ := c.judge(real)
	c.set(now, real)
	return now
}

func (c *clock) doubtful(real time.Time) bool {
	_, doubt := c.judge(real)
	return doubt
}

func (c *clock) judge(real time.Time) (now time.Time, doubt bool) {
	wall := c.wall(real)
	if c.seen.IsZero() {
		return wall, false
	}
	passed := real.Sub(c.at)
	expected := c.seen.Add(passed)
	switch behind := expected.Sub(wall); {
	case -behind > tooFarAhead, behind > tooFarBehind, c.written.Sub(wall) > tooFarBehind:
		return expected, true
	case behind <= 0:
		return wall, false
	case behind >= time.Second: // it slows down until the wall clock has caught up
		return later(wall, c.seen.Add(passed/2)), false
	}
	return later(wall, c.seen), false
}

func (c *clock) wall(real time.Time) time.Time { return real.Add(c.ahead()).UTC().Round(0) }

func (c *clock) set(seen, real time.Time) { c.seen, c.at = seen, real }

func (c *clock) ahead() time.Duration { return time.Duration(c.skew.Load()) }

func (c *clock) jump(by time.Duration) { c.skew.Add(int64(by)) }

// note is what survives a process of its clock.
type note struct {
	at    time.Time
	doubt bool
	skew  time.Duration
}

// resume goes on after a pause, which is not a leap.
func (c *clock) resume(n note, written, real time.Time) {
	from, now := n.at, c.wall(real).Add(-n.skew)
	if !n.doubt {
		from = later(n.at, written)
	}
	c.seen, c.written = time.Time{}, written
	if !from.IsZero() {
		c.set(later(from, now), real)
	}
}
