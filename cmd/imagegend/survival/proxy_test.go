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
	open    map[*link]bool
	stalled chan struct{} // closed once bytes flow again; nil: they do
}

// link is a connection of the daemon's and the one that continues it.
type link struct {
	from, to net.Conn
	silent   bool // nothing passes any more
}

func (l *link) close() {
	l.from.Close()
	l.to.Close()
}

// port is where it listens.
func (p *proxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

func newProxy(t *testing.T, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to, open: map[*link]bool{}}
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
		l := &link{from: from, to: to}
		p.mu.Lock()
		p.open[l] = true
		p.mu.Unlock()
		go p.pass(l, from, to)
		go p.pass(l, to, from)
	}
}

// pass copies what comes, and ends both sides with it, unless neither may notice.
func (p *proxy) pass(l *link, from, to net.Conn) {
	io.Copy(writer{p, l, to}, from)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !l.silent {
		l.close()
		delete(p.open, l)
	}
}

type writer struct {
	*proxy
	link *link
	to   net.Conn
}

// Write waits while bytes do not flow.
func (w writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	stalled := w.stalled
	w.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	w.mu.Lock()
	silent := w.link.silent
	w.mu.Unlock()
	if silent {
		return 0, net.ErrClosed
	}
	return w.to.Write(b)
}

// cut ends all connections. New ones can be made.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.open {
		l.close()
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

// forget takes no packet of the connections that are open any more, as if the machine were gone or a firewall had
// forgotten them: the daemon does not notice. The database's ends are closed by end. New ones can be made.
func (p *proxy) forget() (end func()) {
	var forgotten []*link
	p.mu.Lock()
	for l := range p.open {
		if !l.silent && deafen(l.from) == nil {
			l.silent = true
			forgotten = append(forgotten, l)
		}
	}
	p.mu.Unlock()
	return func() {
		for _, l := range forgotten {
			l.to.Close()
		}
	}
}
