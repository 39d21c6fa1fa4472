package postgres

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// boundSilence has the system give a connection up whose bytes nobody confirms: as long as there are any, it sends no
// questions whether anybody is there.
func boundSilence(network, _ string, c syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	failed := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(longestSilence.Milliseconds()))
	})
	return errors.Join(failed, err)
}
