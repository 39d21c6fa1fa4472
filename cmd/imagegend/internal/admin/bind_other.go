//go:build !unix

package admin

import "net"

func bind(path string) (net.Listener, error) { return net.Listen("unix", path) }
