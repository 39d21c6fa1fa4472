package daemon

import (
	"container/list"
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

// pressedIdle is how long a connection may say nothing when most places are taken.
const pressedIdle = 5 * time.Second

// connections is a listener that takes no more connections than leave descriptors for the work, and no
// more of one address than leave places for others. Who says nothing makes room for who comes, the one
// who has been silent longest first; while everybody is served, who comes waits.
type connections struct {
	net.Listener
	most, perAddress int
	exempt           func(netip.Addr) bool // from the bound on each address
	pressedIdle      time.Duration

	mu      sync.Mutex
	room    sync.Cond
	closed  bool
	open    int
	byPeer  map[netip.Addr]int
	waiting *list.List // of *connection on which no request is under way, the one that waits longest first
}

// connection is one that was taken. It is a TCP connection for net/http to copy files to.
type connection struct {
	*net.TCPConn
	of      *connections
	peer    netip.Addr    // that it counts for; the zero address: for nobody
	waits   *list.Element // in connections.waiting; nil: a request is under way
	since   time.Time     // it waits
	dropped bool
}

func newConnections(l net.Listener, most, perAddress int, exempt func(netip.Addr) bool) *connections {
	c := &connections{Listener: l, most: most, perAddress: perAddress, exempt: exempt, pressedIdle: pressedIdle, byPeer: map[netip.Addr]int{}, waiting: list.New()}
	c.room.L = &c.mu
	return c
}

// Accept implements net.Listener.
func (l *connections) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{TCPConn: raw.(*net.TCPConn), of: l}
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

var errCrowded = errors.New("one address has too many connections")

// admit waits for a place. errCrowded, or net.ErrClosed.
func (l *connections) admit(c *connection) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.open > l.most*3/4 && l.drop(func(w *connection) bool { return time.Since(w.since) > l.pressedIdle }) {
	}
	if c.peer.IsValid() && l.byPeer[c.peer] >= l.perAddress && !l.drop(func(w *connection) bool { return w.peer == c.peer }) {
		return errCrowded
	}
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

// drop closes the one that has waited longest, of those that may be.
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

// Close implements net.Listener.
func (l *connections) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.room.Broadcast()
	return l.Listener.Close()
}

// state is a server's ConnState.
func (l *connections) state(c net.Conn, s http.ConnState) {
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
		l.room.Signal() // it can be dropped
	}
}

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

// release gives the place of a connection back, once.
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
	l.room.Signal()
}

// Close implements net.Conn.
func (c *connection) Close() error {
	err := c.TCPConn.Close()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.release(c)
	return err
}

// refuse tells a client that its address has too many connections, without waiting for its request.
func refuse(c net.Conn) {
	c.SetDeadline(time.Now().Add(time.Second))
	io.WriteString(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"+crowded)
	c.Close()
}
