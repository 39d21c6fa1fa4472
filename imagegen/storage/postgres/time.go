package postgres

import (
	"sync"
	"time"
)

// databaseClock is the database's clock as this process knows it: what the database said last, and what has
// passed since by this machine's monotonic clock. Every transaction that writes asks anew, so the two cannot drift
// apart for long, and this machine's wall clock never counts. It is safe for concurrent use.
type databaseClock struct {
	given func() time.Time // takes the clock's place, in tests; nil: the database's

	mu   sync.Mutex // guards the two below
	said time.Time
	at   time.Time // when that was, with a monotonic reading
}

// saw notes what the database's clock has just shown. The answer was some time on its way, by which the clock known
// here is behind.
func (c *databaseClock) saw(said time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said, c.at = said.UTC(), time.Now()
}

// now is the wall clock that the ledger judges. It must not be called before saw.
func (c *databaseClock) now() time.Time {
	if c.given != nil {
		return c.given()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.Add(time.Since(c.at))
}
