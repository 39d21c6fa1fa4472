//go:build unix

package main_test

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// SIGHUP neither ends the service nor passes in silence, also while it drains.
func TestHangUp(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	is.NoErr(d.Signal(syscall.SIGHUP))
	until(t, "a line about it", func() bool { return strings.Contains(d.Output(), "SIGHUP changes nothing") })
	is.Equal(d.Call(daemontest.Request{Path: "/readyz"}).Status, 200)

	_, key := d.NewUser(10)
	is.Equal(d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "size": "64x64"})).
		Status, 200)
	is.NoErr(d.Signal(syscall.SIGTERM))
	until(t, "draining", func() bool { return d.Call(daemontest.Request{Path: "/readyz"}).Status == 503 })
	is.NoErr(d.Signal(syscall.SIGHUP))
	is.Equal(d.Wait(drainLimit), 0)
}

// A closed terminal ends serve --dev.
func TestHangUpEndsASandbox(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGHUP) // a signal that these tests ignore, the daemon would ignore too
	defer signal.Stop(handled)
	d := daemontest.Start(t, daemontest.Options{Dev: true})
	is.NoErr(d.Signal(syscall.SIGHUP))
	is.Equal(d.Wait(drainLimit), 0)
	says(t, d.Output(), "draining", "stopped")
}

func TestQuitDumpsGoroutines(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	is.NoErr(d.Signal(syscall.SIGQUIT))
	is.Equal(d.Wait(drainLimit), 2)
	says(t, d.Output(), "SIGQUIT: quit", "goroutine ")
}
