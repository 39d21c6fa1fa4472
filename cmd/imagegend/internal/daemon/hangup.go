package daemon

import (
	"os"
	"os/signal"
	"syscall"
)

// hangUps delivers SIGHUP, which then ends nothing by itself. A sandbox that was told to outlive its
// terminal does.
func (o Options) hangUps() (hangUps <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	if o.Dev && signal.Ignored(syscall.SIGHUP) {
		return c, func() {}
	}
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
