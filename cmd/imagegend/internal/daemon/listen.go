package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"syscall"

	"github.com/imagegend/imagegend/internal/clientaddr"
)

// listen takes the address before anything else is done, so that nothing is made if it is in use. It bounds the
// connections by the limit on open files.
func listen(o Options, log *slog.Logger) (*connections, error) {
	l, err := listenTCP(o.Addr, "addr")
	if err != nil {
		return nil, err
	}
	files := openFiles()
	most, ofOne, tight := places(files, o.Concurrency)
	if tight {
		log.Warn("the limit on open files is low: work may fail for want of them; raise it (ulimit -n, LimitNOFILE= of systemd) or lower --concurrency",
			"limit", files, "concurrency", o.Concurrency, "connections", most)
	}
	return newConnections(l, most, ofOne, o.exempt), nil
}

// exempt reports whether an address has no bound of its own: this machine's, or that of a trusted proxy, whose
// clients are bounded instead.
func (o Options) exempt(a netip.Addr) bool {
	return !a.IsValid() || a.Unmap().IsLoopback() || clientaddr.Among(a, o.TrustedProxies)
}

// listenTCP listens on the address that a flag names. Its errors say what to do.
func listenTCP(addr, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another process; end it, or choose another address with --%s", addr,
			flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s needs more rights than this process has; choose a port from 1024 with --%s", addr,
			flag)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s is not an address of this machine; choose another with --%s", addr, flag)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %q; write an address such as 127.0.0.1:8080 for --%s: %w", addr, flag,
			err)
	}
	return l, nil
}

// loopback reports whether only this machine can reach a listener.
func loopback(l net.Listener) bool {
	a, ok := l.Addr().(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}
