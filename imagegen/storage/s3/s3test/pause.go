//go:build unix

package s3test

import (
	"syscall"
	"testing"
)

// Pause has the server stand still until it is resumed, with its connections open.
func (s *Server) Pause(tb testing.TB) (resume func()) {
	tb.Helper()
	process := s.process.Process
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		tb.Error(err)
	}
	return func() {
		if err := process.Signal(syscall.SIGCONT); err != nil {
			tb.Error(err)
		}
	}
}
