package imagegentest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"github.com/matryer/is"
)

// Piped runs a server on connections that stay in the process, so that a test's clock governs them. dial makes one. At
// the end of the test they are closed, and the server is shut down.
func Piped(t *testing.T, server *http.Server) (dial func() net.Conn) {
	is := is.New(t)
	l := pipes{make(chan net.Conn), make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		is.NoErr(server.Shutdown(context.Background()))
		is.True(errors.Is(<-served, http.ErrServerClosed))
	})
	return func() net.Conn {
		near, far := net.Pipe()
		l.incoming <- far
		t.Cleanup(func() { near.Close() })
		return near
	}
}

// pipes is the listener of Piped.
type pipes struct {
	incoming chan net.Conn
	closed   chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.incoming:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
