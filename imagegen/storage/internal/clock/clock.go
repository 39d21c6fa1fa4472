// Package clock judges the time. A wall clock may be wrong, and what ends by age, credits above all,
// ends for good: so a leap of the wall clock is not believed until an operator confirms it.
//
// A Clock compares the wall clock with the time that passes by the system's monotonic clock. As long as the two
// agree, its time is that of the wall clock; if that falls behind a little, its time runs at half the pace until they
// meet. When they disagree by more, the clock is in doubt, and its time goes on from the last undoubted one by what
// passes. Time during which the process was not running, or the machine slept, is not a leap.
//
// The clock writes nothing down. Its user, the ledger, stores a Mark now and then and with entries, and gives it to the
// next process.
package clock

import (
	"sync"
	"time"
)

const (
	// longestLeap is how far the wall clock may run ahead of the time that has passed.
	longestLeap = time.Hour
	// longestLag is how far it may be behind what was returned or written.
	longestLag = 5 * time.Minute
	// unnoticed is how far it may be behind before the judged time is slowed down for it.
	unnoticed = time.Second
	// nap is how far it has to be off before a sleep of the machine may be the cause.
	nap = 100 * time.Millisecond
)

// Clock judges a wall clock by the time that passes. It is safe for concurrent use.
type Clock struct {
	wall   func() time.Time
	asleep func() time.Duration // how long the machine slept so far, which its monotonic clock leaves out

	mu       sync.Mutex    // guards the fields below
	last     time.Time     // the judged time when it was last read; zero: there is nothing to compare with
	at       time.Time     // when that was, with a monotonic reading
	slept    time.Duration // how long the machine had slept by then
	reported time.Duration // how much of that Slept has returned
	steady   time.Time     // the steady time when it was last read
	written  time.Time     // the latest time that was written down in this epoch
	epoch    uint64
	since    time.Time // when the epoch began, by the corrected clock
}

// Reading is the time of one operation.
type Reading struct {
	// by which things end: the wall clock's, or, in doubt, the last undoubted time and what has passed since
	Now  time.Time
	Wall time.Time // as the wall clock has it
	// advances by the time that passes and by nothing else: for delays and leases; only within one process
	Steady time.Time
	Doubt  bool
	Leap   time.Duration // in doubt: how far the wall clock is ahead; below 0 it is behind
	Epoch  uint64        // how often the clock was corrected
	Since  time.Time     // when it was corrected last, by the corrected clock; zero: never
}

// New returns a clock that has nothing to compare the wall clock with.
func New(wall func() time.Time) *Clock { return &Clock{wall: wall, asleep: asleep} }

// Now is the judged time. It falls only when a correction is confirmed.
func (c *Clock) Now() time.Time { return c.Read().Now }

// Read reads the wall clock and judges it.
func (c *Clock) Read() Reading {
	wall := c.readWall()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.IsZero() {
		c.startAt(wall, c.asleep())
	}
	passed, slept := time.Since(c.at), c.slept
	if off := wall.Sub(c.last.Add(passed)); off.Abs() > nap { // asking the system takes twice as long as all the rest
		slept = max(slept, c.asleep())
		passed += slept - c.slept
	}
	now, leap := c.judge(wall, passed)
	c.steady = c.steady.Add(passed)
	c.set(now, slept)
	return Reading{Now: now, Wall: wall, Steady: c.steady, Doubt: leap != 0, Leap: leap, Epoch: c.epoch, Since: c.since}
}

// judge returns the judged time, and the leap that it does not believe; 0 if it believes the wall clock. passed is the
// time since the last reading.
func (c *Clock) judge(wall time.Time, passed time.Duration) (now time.Time, leap time.Duration) {
	expected := c.last.Add(passed)
	switch ahead, written := wall.Sub(expected), wall.Sub(c.written); {
	case ahead > longestLeap, ahead < -longestLag:
		return expected, ahead
	case written < -longestLag:
		return expected, written
	case ahead >= 0:
		return wall, 0
	case ahead > -unnoticed:
		passed = 0
	}
	// A little behind: it is waited for, at half the pace, so that nothing that is due stands still.
	return later(wall, c.last.Add(passed/2)), 0
}

// Wrote notes that a time was written down: from now on the wall clock is in doubt if it is far behind that.
func (c *Clock) Wrote(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = later(c.written, at)
}

// Confirm believes the wall clock from now on, in a new epoch.
func (c *Clock) Confirm(epoch uint64) {
	wall, slept := c.readWall(), c.asleep()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(wall, slept)
	c.written, c.epoch, c.since = wall, epoch, wall
}

// Resume continues from what a former process wrote down, and returns the gap between then and now. The gap is not a
// leap, so without a doubt time continues with the wall clock, but never before what was written. A doubt continues
// with the same distance between the wall clock and the judged time. Call it before the first reading.
func (c *Clock) Resume(m Mark) (gap time.Duration) {
	wall, slept := c.readWall(), c.asleep()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written, c.epoch, c.since = m.Written, m.Epoch, m.Since
	from, now := m.At, wall.Add(-m.Skew) // a doubt outlasts the process
	if !m.Doubt {
		from = later(m.At, m.Written)
	}
	if from.IsZero() {
		return 0
	}
	c.startAt(later(from, now), slept)
	return max(0, now.Sub(from))
}

// Slept is how long the machine slept since the last call of Slept, or since the clock began.
func (c *Clock) Slept() (d time.Duration) {
	c.Read()
	c.mu.Lock()
	defer c.mu.Unlock()
	d, c.reported = c.slept-c.reported, c.slept
	return d
}

// startAt sets the first judged time, from which the steady time starts too. The caller holds mu.
func (c *Clock) startAt(now time.Time, slept time.Duration) {
	c.steady, c.reported = now, slept
	c.set(now, slept)
}

// set makes now the last judged time. The caller holds mu.
func (c *Clock) set(now time.Time, slept time.Duration) {
	c.last, c.at, c.slept = now, time.Now(), max(c.slept, slept)
}

// readWall reads the wall clock without its monotonic reading, so that differences show what the wall clock says.
func (c *Clock) readWall() time.Time { return c.wall().UTC().Round(0) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
