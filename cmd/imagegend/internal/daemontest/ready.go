package daemontest

import (
	"bytes"
	"context"
	"sync"
)

// UntilReady is the output of a server that runs in this process. It collects what the server writes, and calls End
// once that includes the word ready. End is called again with each further such write, so it must be safe to repeat.
type UntilReady struct {
	End context.CancelFunc

	mu   sync.Mutex
	said bytes.Buffer
}

// Write implements io.Writer.
func (u *UntilReady) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if bytes.Contains(p, []byte("ready")) {
		u.End()
	}
	return u.said.Write(p)
}

// Said returns all that the server has written. It may be called while the server runs.
func (u *UntilReady) Said() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.said.String()
}
