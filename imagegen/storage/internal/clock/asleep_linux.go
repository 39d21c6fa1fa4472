package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// asleep is how long the machine has slept since it started: the difference of two clocks that start with the machine,
// one of which goes on while it sleeps. It is in whole seconds, rounded down, since time may pass between the two
// readings. 0 also if it is not known.
func asleep() time.Duration {
	var with, without unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &with) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC,
		&without) != nil {
		return 0
	}
	return max(0, time.Duration(with.Nano()-without.Nano())).Truncate(time.Second)
}
