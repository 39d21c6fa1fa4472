//go:build unix

package daemon

import "syscall"

// openFiles is how many files this process may have open.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return unlimited
	}
	return int(min(uint64(limit.Cur), unlimited))
}
