//go:build !unix

package admin

import "net"

// bind opens a socket. Only Unix has permissions on it; elsewhere the permissions of the directory have to do.
func bind(path string) (net.Listener, error) { return net.Listen("unix", path) }
