//go:build unix

package admin

import (
	"net"
	"syscall"
)

// bind opens a socket that never was another user's to connect to: the mode is set later than the
// socket is there. The mask is the process's; meanwhile it takes nothing from what is made for the
// owner alone.
func bind(path string) (net.Listener, error) {
	defer syscall.Umask(syscall.Umask(0o077))
	return net.Listen("unix", path)
}
