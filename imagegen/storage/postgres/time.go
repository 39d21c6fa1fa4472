package postgres

import (
	"sync"
	"time"
)

// databaseClock is the database's clock as this process knows it: what the database said last, and what has
// passed since.
type databaseClock struct {
	given func() time.Time // in its place; nil: the database's

	mu   sync.Mutex
	said time.Time
	at   time.Time // when that was, with a monotonic reading
}

// saw notes what the database's clock has just shown.
func (c *databaseClock) saw(said time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said, c.at = said.UTC(), time.Now()
}

func (c *databaseClock) now() time.Time {
	if c.given != nil {
		return c.given()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.Add(time.Since(c.at))
}
