//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// surviveFileSizeLimit makes a limit on the size of files fail the write, as a full disk does,
// instead of killing the process.
func surviveFileSizeLimit() { signal.Ignore(syscall.SIGXFSZ) }
