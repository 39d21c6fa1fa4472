package model_test

import (
	"sync/atomic"
	"time"
)

// clock is what the ledger promises of its time: it never runs backwards, and it does not believe a
// wall clock that is more than a day ahead of the time that has passed since it last looked.
type clock struct {
	skew atomic.Int64 // of the wall clock, in nanoseconds
	told time.Time    // the latest time; zero: there is nothing to compare with
	at   time.Time    // when that was, by the time that really passes
}

const believed = 24 * time.Hour

// now is the ledger's time at a moment of real time.
func (c *clock) now(real time.Time) time.Time {
	switch wall := c.wall(real); {
	case c.doubtful(real):
		c.set(c.told.Add(real.Sub(c.at)), real)
	case wall.After(c.told):
		c.set(wall, real)
	}
	return c.told
}

func (c *clock) wall(real time.Time) time.Time { return real.Add(c.ahead()).UTC().Round(0) }

func (c *clock) doubtful(real time.Time) bool {
	passed := real.Sub(c.at)
	return !c.told.IsZero() && c.wall(real).Sub(c.told.Add(passed)) > believed
}

func (c *clock) set(told, real time.Time) { c.told, c.at = told, real }

func (c *clock) ahead() time.Duration { return time.Duration(c.skew.Load()) }

func (c *clock) jump(by time.Duration) { c.skew.Add(int64(by)) }
