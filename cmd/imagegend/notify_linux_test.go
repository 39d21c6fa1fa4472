package main_test

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The service tells a service manager when it is ready, that it lives, and when it stops.
func TestNotify(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	socket := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	is.NoErr(err)
	defer l.Close()
	next := func() string {
		t.Helper()
		is.NoErr(l.SetReadDeadline(time.Now().Add(time.Minute)))
		b := make([]byte, 100)
		n, err := l.Read(b)
		is.NoErr(err)
		return string(b[:n])
	}
	d := daemontest.Start(t, daemontest.Options{Env: []string{"NOTIFY_SOCKET=" + socket, "WATCHDOG_USEC=300000"}})
	is.Equal(next(), "READY=1")
	is.Equal(next(), "WATCHDOG=1")
	is.Equal(next(), "WATCHDOG=1")
	is.Equal(d.Terminate(drainLimit), 0)
	said := next()
	for said == "WATCHDOG=1" {
		said = next()
	}
	is.Equal(said, "STOPPING=1")
}
