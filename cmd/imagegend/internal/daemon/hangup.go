package daemon

import (
	"os"
	"os/signal"
	"syscall"
)

// hangUps returns a channel that receives SIGHUP, which then no longer ends the process. A service with --dev that was
// started to outlive its terminal, with nohup for example, goes on ignoring the signal. stop ends the delivery.
func (o Options) hangUps() (hangUps <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	if o.Dev && signal.Ignored(syscall.SIGHUP) {
		return c, func() {}
	}
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
