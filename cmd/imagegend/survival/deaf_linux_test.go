package survival_test

import (
	"net"

	"golang.org/x/sys/unix"
)

// deafen has a connection take no packet any more, as if the machine were gone: nothing is confirmed, nothing is
// closed.
func deafen(c net.Conn) error {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	none := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K}}
	failed := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: 1, Filter: &none[0]})
	})
	if failed != nil {
		return failed
	}
	return err
}
