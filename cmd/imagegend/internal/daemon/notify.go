package daemon

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"
)

// notify tells the service manager, such as systemd, how the process fares: READY=1, STOPPING=1, WATCHDOG=1. Without
// one that asked for it, it does nothing. https://www.freedesktop.org/software/systemd/man/sd_notify.html
func (d *daemon) notify(state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	if socket[0] == '@' { // of the abstract namespace
		socket = "\x00" + socket[1:]
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err == nil {
		_, err = c.Write([]byte(state))
		c.Close()
	}
	if err != nil {
		d.log.Warn("the service manager could not be told", "state", state, "error", err)
	}
}

// keepAlive tells a watchdog, until ctx ends, that the process still runs. A slow disk or upstream is no reason to
// end it: it says so in readiness.
func (d *daemon) keepAlive(ctx context.Context) {
	limit := watchdog()
	if limit == 0 {
		return
	}
	tick := time.NewTicker(limit / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			d.notify("WATCHDOG=1")
		case <-ctx.Done():
			return
		}
	}
}

// watchdog is within which time the service manager wants to hear of this process; 0: it does not.
func watchdog() time.Duration {
	µs, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	pid := os.Getenv("WATCHDOG_PID")
	if err != nil || µs <= 0 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	return time.Duration(µs) * time.Microsecond
}
