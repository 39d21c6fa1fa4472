package daemon

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/imagegend/imagegend/internal/clientaddr"
)

// pressedIdle is how long a connection may be silent while most places are taken.
const pressedIdle = 5 * time.Second

// connections is a listener that bounds the connections in all, so that files are left for the work, and those from
// one address, so that places are left for others. No connection is closed for its age. Instead, one on which no
// request is under way makes room when somebody else needs its place, the longest silent one first. If every
// connection has a request, a new one waits in Accept, and those behind it wait in the kernel's queue.
//
// mu guards the fields below it, and the fields of every connection.
type connections struct {
	net.Listener
	most, perAddress int
	exempt           func(netip.Addr) bool // addresses without a bound of their own
	pressedIdle      time.Duration

	mu        sync.Mutex
	room      sync.Cond // a place is free, a connection has become silent, or the listener is closed
	closed    bool
	finishing bool          // see finish
	taken     bool          // all that came before finish were taken
	finished  chan struct{} // closed once none of them is open
	open      int           // places taken
	byPeer    map[netip.Addr]int
	waiting   *list.List // of *connection without a request under way, the longest silent first
}

// connection is a connection that was taken. It embeds a TCP connection so that net/http can copy files to it with
// sendfile.
type connection struct {
	*net.TCPConn
	of      *connections
	peer    netip.Addr    // whose bound it counts for; the zero address: nobody's
	waits   *list.Element // place in connections.waiting; nil: a request is under way
	since   time.Time     // when it became silent
	dropped bool          // its place was given back
}

// newConnections wraps a TCP listener. It takes up to most connections, and up to perAddress from one network. Its
// server must have state as ConnState, or every connection counts as silent for ever.
func newConnections(l net.Listener, most, perAddress int, exempt func(netip.Addr) bool) *connections {
	c := &connections{Listener: l, most: most, perAddress: perAddress, exempt: exempt, pressedIdle: pressedIdle,
		byPeer: map[netip.Addr]int{}, waiting: list.New(), finished: make(chan struct{})}
	c.room.L = &c.mu
	return c
}

// Accept implements net.Listener. It answers and closes connections of a crowded address itself, and goes on.
func (l *connections) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			l.noMore()
			return nil, err
		}
		c := &connection{TCPConn: raw.(*net.TCPConn), of: l}
		// Limits go by network, as in uncrowded: a /64 of IPv6 is usually one customer's.
		if peer := clientaddr.Peer(raw.RemoteAddr().String()); !l.exempt(peer) {
			c.peer = clientaddr.Network(peer)
		}
		switch l.admit(c) {
		case nil:
			return c, nil
		case errCrowded:
			refuse(raw)
		default:
			raw.Close()
			return nil, net.ErrClosed
		}
	}
}

// errCrowded says that the address of a connection has reached its bound, with a request on each connection.
var errCrowded = errors.New("one address has too many connections")

// admit takes a place for a connection, in four steps. When three quarters of the places are taken, it drops every
// connection that has been silent for long. If the address has reached its bound, it drops a silent connection of the
// same address, or refuses. It waits for a place. It counts the connection as silent, since nothing has arrived yet.
// The errors are errCrowded and net.ErrClosed.
func (l *connections) admit(c *connection) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	// While a quarter of the places is left, only connections that were silent for long go.
	for l.open > l.most*3/4 && l.drop(func(w *connection) bool { return time.Since(w.since) > l.pressedIdle }) {
	}
	if c.peer.IsValid() && l.byPeer[c.peer] >= l.perAddress && !l.drop(func(w *connection) bool {
		return w.peer == c.peer
	}) {
		return errCrowded
	}
	// Without a free place, anything silent goes. If nothing is, Accept waits here and holds no lock: Wait releases
	// it.
	for l.open >= l.most && !l.closed && !l.drop(func(*connection) bool { return true }) {
		l.room.Wait()
	}
	if l.closed {
		return net.ErrClosed
	}
	l.open++
	l.byPeer[c.peer]++
	l.await(c)
	return nil
}

// drop closes the longest silent connection for which may is true, and reports whether there was one. The caller
// holds mu.
func (l *connections) drop(may func(*connection) bool) bool {
	for e := l.waiting.Front(); e != nil; e = e.Next() {
		if w := e.Value.(*connection); may(w) {
			l.release(w)
			w.TCPConn.Close()
			return true
		}
	}
	return false
}

// Close implements net.Listener. It wakes an Accept that waits. Connections stay open.
func (l *connections) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.room.Broadcast()
	if l.finishing {
		return nil // finish has closed it
	}
	return l.Listener.Close()
}

// finish shuts down the server over the listener. [http.Server.Shutdown] alone would close a connection that has just
// been taken, and leave the request that arrives on it without an answer. So finish takes no more connections, waits
// until each has been closed with its next answer, or ctx ends, and only then calls Shutdown. One that nobody has taken
// by then is reset by the kernel, as whenever a listener is closed.
func (l *connections) finish(ctx context.Context, s *http.Server) error {
	l.mu.Lock()
	l.finishing = true
	l.mu.Unlock()
	l.Listener.Close()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		s.SetKeepAlivesEnabled(false) // closes those that are silent, new ones after five seconds
		select {
		case <-again.C:
			continue
		case <-l.finished:
		case <-ctx.Done():
		}
		return s.Shutdown(ctx)
	}
}

// noMore notes that every connection was taken that came before finish, and waits for Close: without Accept, the server
// would end.
func (l *connections) noMore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken = l.finishing
	l.settle()
	for l.finishing && !l.closed {
		l.room.Wait()
	}
}

// settle closes finished when the last connection is gone. The caller holds mu.
func (l *connections) settle() {
	if l.taken && l.open == 0 {
		close(l.finished)
	}
}

// state is the ConnState of a server over the listener: it tells when a request begins and ends. A hijacked
// connection counts as busy until it is closed.
func (l *connections) state(c net.Conn, s http.ConnState) {
	// Over TLS the server knows the connection by the one that wraps it.
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch c := c.(*connection); s {
	case http.StateActive, http.StateHijacked:
		l.resume(c)
	case http.StateIdle:
		l.await(c)
		l.room.Signal() // an Accept that waits can drop it
	}
}

// await counts a connection as silent from now on, resume as busy. The caller holds mu.
func (l *connections) await(c *connection) {
	if c.waits == nil && !c.dropped {
		c.waits, c.since = l.waiting.PushBack(c), time.Now()
	}
}

func (l *connections) resume(c *connection) {
	if c.waits != nil {
		l.waiting.Remove(c.waits)
		c.waits = nil
	}
}

// release gives the place of a connection back, once. The caller holds mu.
func (l *connections) release(c *connection) {
	if c.dropped {
		return
	}
	l.resume(c)
	c.dropped = true
	l.open--
	if l.byPeer[c.peer]--; l.byPeer[c.peer] == 0 {
		delete(l.byPeer, c.peer)
	}
	l.settle()
	l.room.Signal()
}

// Close implements net.Conn. After drop it only closes again, which fails without harm.
func (c *connection) Close() error {
	err := c.TCPConn.Close()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.release(c)
	return err
}

// refuse answers a client whose address has too many connections. It does not wait for the request, since it runs in
// Accept, and spends at most a second.
func refuse(c net.Conn) {
	c.SetDeadline(time.Now().Add(time.Second))
	io.WriteString(c,
		"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"+crowded)
	c.Close()
}
