//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// surviveFileSizeLimit ignores SIGXFSZ, which by default kills a process that exceeds the limit on the size of a file
// (ulimit -f). A write beyond the limit then fails with EFBIG, and the service treats it like a full disk.
func surviveFileSizeLimit() { signal.Ignore(syscall.SIGXFSZ) }
