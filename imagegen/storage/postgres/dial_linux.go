package postgres

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// boundSilence has the system give up a connection whose bytes nobody confirms within longestSilence. Keep-alive
// probes do not help there: none is sent as long as bytes are unconfirmed. Sockets that are not TCP (a Unix socket)
// are left as they are.
func boundSilence(network, _ string, c syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	failed := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(longestSilence.Milliseconds()))
	})
	return errors.Join(failed, err)
}
