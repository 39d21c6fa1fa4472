package cli

import (
	"fmt"
	"sync"
	"time"
)

// progress shows every second how long something has taken, if standard error is a terminal; elsewhere it does
// nothing. Meanwhile nothing else may write to standard error. stop, which must be called once, removes the line and
// returns when the goroutine has ended, so that nothing is written into later output.
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
			// A carriage return without a line break writes over the line that is there.
			fmt.Fprintf(a.stderr, "\r%s… %ds", what, int(time.Since(began).Seconds()))
			select {
			case <-done:
				// Back to the beginning of the line, and erase it.
				fmt.Fprint(a.stderr, "\r\033[K")
				return
			case <-tick.C:
			}
		}
	})
	return func() { close(done); shown.Wait() }
}
