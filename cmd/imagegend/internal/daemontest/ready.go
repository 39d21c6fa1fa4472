package daemontest

import (
	"bytes"
	"context"
	"sync"
)

// UntilReady collects what a server that runs in this process says, and calls End once it has said
// that it is ready.
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

// Said is all that the server has said.
func (u *UntilReady) Said() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.said.String()
}
