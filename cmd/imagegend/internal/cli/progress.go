package cli

import (
	"fmt"
	"sync"
	"time"
)

// progress shows on a terminal how long something takes, until the returned function is called.
func (a *app) progress(what string) (stop func()) {
	if !isTerminal(a.stderr) {
		return func() {}
	}
	done := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		began := time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			fmt.Fprintf(a.stderr, "\r%s… %ds", what, int(time.Since(began).Seconds()))
			select {
			case <-done:
				fmt.Fprint(a.stderr, "\r\033[K")
				return
			case <-tick.C:
			}
		}
	})
	return func() { close(done); shown.Wait() }
}
