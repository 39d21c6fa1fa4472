package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// isTerminal reports whether somebody may be looking at what is written to w. A character device is taken for a
// terminal, except for the null device, which is one too. A file, a pipe and a Writer of a test are none. A wrong
// answer costs little: a line of progress too many, or an output that is refused.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

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
