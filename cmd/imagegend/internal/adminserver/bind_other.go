//go:build !unix

package adminserver

import "net"

// bind opens a socket. Only Unix has permissions on a socket; elsewhere those of the directory must suffice.
func bind(path string) (net.Listener, error) { return net.Listen("unix", path) }
