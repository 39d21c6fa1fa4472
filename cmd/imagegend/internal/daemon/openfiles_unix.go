//go:build unix

package daemon

import "syscall"

// openFiles returns how many files this process may have open. Go raises the soft limit to the hard one when a
// process starts.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return unlimited
	}
	return int(min(uint64(limit.Cur), unlimited))
}
