package daemon

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Places tells the bounds on connections.
func Places(files, attempts int) (most, ofOne int, tight bool) { return places(files, attempts) }

// Serve serves on a bounded listener of this machine, on which all addresses count, until it is closed. idle
// is called after a connection has fallen silent, and end shuts the server down as a drain does.
func Serve(h http.Handler, most, perAddress int, pressed time.Duration,
	idle func()) (s *http.Server, addr string, end func(context.Context) error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, err
	}
	c := newConnections(l, most, perAddress, func(netip.Addr) bool { return false })
	c.pressedIdle = pressed
	s = &http.Server{Handler: h, ConnState: func(conn net.Conn, state http.ConnState) {
		c.state(conn, state)
		if state == http.StateIdle {
			idle()
		}
	}}
	go s.Serve(c)
	return s, l.Addr().String(), func(ctx context.Context) error { return c.finish(ctx, s) }, nil
}

// Answers is what a drain knows of answers.
type Answers struct{ *answers }

// NewAnswers knows of none.
func NewAnswers() Answers { return Answers{newAnswers()} }

// Watch tells it of those of a handler.
func (a Answers) Watch(h http.Handler) http.Handler { return a.watch(h) }

// Drain begins a drain, and returns how long it lingers.
func (a Answers) Drain() time.Duration {
	a.close()
	began := time.Now()
	time.Sleep(a.remains(answersGrace))
	return time.Since(began)
}

// Changes tells what differs between two sets of models.
var Changes = changes

var ReadHooks = readHooks
