package daemon

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"
)

// notify tells a service manager such as systemd how the process is: READY=1, STOPPING=1 or WATCHDOG=1. Without one
// that asks for it, it does nothing; a failure is logged.
// https://www.freedesktop.org/software/systemd/man/sd_notify.html
func (d *daemon) notify(state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	if socket[0] == '@' { // Linux's abstract namespace, whose names begin with a zero byte
		socket = "\x00" + socket[1:]
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err == nil {
		_, err = c.Write([]byte(state))
		c.Close()
	}
	if err != nil {
		d.log.Warn("the service manager could not be notified", "state", state, "error", err)
	}
}

// keepAlive tells a watchdog that the process runs, three times as often as it must, until ctx ends. It does so even
// if the disk or an upstream is slow: that is for readiness to tell, and no reason to end the process.
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

// watchdog returns within which time the service manager wants to hear from this process; 0: not at all. WATCHDOG_PID
// guards against variables that were inherited and are meant for another process.
func watchdog() time.Duration {
	µs, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	pid := os.Getenv("WATCHDOG_PID")
	if err != nil || µs <= 0 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	return time.Duration(µs) * time.Microsecond
}
