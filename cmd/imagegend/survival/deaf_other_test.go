//go:build !linux

package survival_test

import "net"

// deafen does nothing: the bytes are kept back, but confirmed.
func deafen(net.Conn) error { return nil }
