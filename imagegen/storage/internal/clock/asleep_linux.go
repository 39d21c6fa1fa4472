package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// asleep is the difference of two clocks that begin with the machine: one goes on while it sleeps. In
// whole seconds, rounded down: between the two readings time may pass.
func asleep() time.Duration {
	var with, without unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &with) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &without) != nil {
		return 0
	}
	return max(0, time.Duration(with.Nano()-without.Nano())).Truncate(time.Second)
}
