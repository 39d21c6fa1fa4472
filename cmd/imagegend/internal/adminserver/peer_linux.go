package adminserver

import (
	"net"
	"os/user"
	"strconv"
	"syscall"
)

// peerName returns the user whose process is at the other end of a unix socket, as the kernel noted it when the
// socket was connected. A user who has no name on this system, such as one of a container, is shown by number. known
// is false if the kernel does not tell.
func peerName(c net.Conn) (name string, known bool) {
	unix, ok := c.(*net.UnixConn)
	if !ok {
		return "", false
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return "", false
	}
	var peer *syscall.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil || failed != nil {
		return "", false
	}
	id := strconv.FormatUint(uint64(peer.Uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username, true
	}
	return "uid " + id, true
}
