//go:build unix

package adminserver

import (
	"net"
	"syscall"
)

// bind opens a socket that no other user can connect to at any time. The process's umask does that: a chmod alone
// would leave a moment between the creation of the socket and the change of its mode. The umask is that of the whole
// process; files that other goroutines create meanwhile can only become more private, and those the service makes are
// for the owner alone anyway.
func bind(path string) (net.Listener, error) {
	defer syscall.Umask(syscall.Umask(0o077))
	return net.Listen("unix", path)
}
