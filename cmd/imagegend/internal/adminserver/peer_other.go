//go:build !linux

package adminserver

import "net"

// peerName never knows the peer: only Linux has SO_PEERCRED.
func peerName(net.Conn) (name string, known bool) { return "", false }
