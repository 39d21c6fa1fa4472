package daemontest

import (
	"bytes"
	"context"
	"sync"
)

// Output collects what a process, or a log, writes. It is safe for concurrent use: the test reads meanwhile.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// UntilReady is the output of a server that runs in this process. It collects what the server writes, and calls End
// once that includes the word ready. End is called again with each further such write, so it must be safe to repeat.
type UntilReady struct {
	End context.CancelFunc
	Output
}

// Write implements io.Writer.
func (u *UntilReady) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("ready")) {
		u.End()
	}
	return u.Output.Write(p)
}
