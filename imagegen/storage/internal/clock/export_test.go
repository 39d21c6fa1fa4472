package clock

import "time"

// Sleeping has a clock think that its machine slept as long as asleep says.
func Sleeping(c *Clock, asleep func() time.Duration) { c.asleep = asleep }
