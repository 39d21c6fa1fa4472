package survival_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy stands between a daemon and its database.
type proxy struct {
	listener net.Listener
	to       string

	mu      sync.Mutex
	open    map[net.Conn]bool
	stalled chan struct{} // closed once bytes flow again; nil: they do
}

// port is where it listens.
func (p *proxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

func newProxy(t *testing.T, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to, open: map[net.Conn]bool{}}
	go p.serve()
	t.Cleanup(func() {
		l.Close()
		p.cut()
	})
	return p
}

func (p *proxy) serve() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", p.to)
		if err != nil {
			from.Close()
			continue
		}
		p.keep(from, to)
		go p.pass(from, to)
		go p.pass(to, from)
	}
}

func (p *proxy) keep(all ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range all {
		p.open[c] = true
	}
}

// pass copies what comes, and ends both sides with it.
func (p *proxy) pass(from, to net.Conn) {
	io.Copy(writer{p, to}, from)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range []net.Conn{from, to} {
		c.Close()
		delete(p.open, c)
	}
}

type writer struct {
	*proxy
	to net.Conn
}

// Write waits while bytes do not flow.
func (w writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	stalled := w.stalled
	w.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	return w.to.Write(b)
}

// cut ends all connections. New ones can be made.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		c.Close()
	}
}

// stall keeps all bytes back until resume.
func (p *proxy) stall() (resume func()) {
	stalled := make(chan struct{})
	p.mu.Lock()
	p.stalled = stalled
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		p.stalled = nil
		p.mu.Unlock()
		close(stalled)
	}
}
