package provider_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// faultyUpstream is an upstream that works for some requests and misbehaves for all that follow.
type faultyUpstream struct {
	net.Listener
	good          http.Handler
	from          int // requests that are answered well
	upstreamFault func(*faultyAnswer)

	struck chan struct{} // closed when the first fault begins
	enough chan struct{} // closed when a flood has sent much
	busy   sync.WaitGroup

	mu    sync.Mutex
	asked []string          // methods and paths
	conns map[net.Conn]bool // whether they wait for a request
	over  bool
}

func startFaultyUpstream(good http.Handler, from int, upstreamFault func(*faultyAnswer),
	stranger string) (*faultyUpstream, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := &faultyUpstream{Listener: l, good: good, from: from, upstreamFault: upstreamFault, struck: make(chan struct{}),
		enough: make(chan struct{}), conns: map[net.Conn]bool{}}
	h.busy.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			h.busy.Go(func() { h.serve(c, stranger) })
		}
	})
	return h, nil
}

func (h *faultyUpstream) url() string { return "http://" + h.Addr().String() }

func (h *faultyUpstream) serve(c net.Conn, stranger string) {
	defer c.Close()
	for in := bufio.NewReader(c); ; {
		h.rest(c, true)
		r, err := http.ReadRequest(in)
		if h.rest(c, false); err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		w := httptest.NewRecorder()
		h.good.ServeHTTP(w, r)
		if h.count(r) {
			h.upstreamFault(&faultyAnswer{c, w.Body.Bytes(), stranger, h.flooded})
			return
		}
		if _, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			w.Header().Get("Content-Type"), w.Body.Len(), w.Body); err != nil {
			return
		}
	}
}

// rest keeps which connections wait for a request; at the end there is none to wait for.
func (h *faultyUpstream) rest(c net.Conn, idle bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conns[c] = idle; idle && h.over {
		c.Close()
	}
}

// flooded notes that much has been sent, once or again.
func (h *faultyUpstream) flooded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.enough:
	default:
		close(h.enough)
	}
}

// count counts a request and reports whether it is to go wrong.
func (h *faultyUpstream) count(r *http.Request) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, r.Method+" "+r.URL.Path)
	if len(h.asked) == h.from+1 {
		close(h.struck)
	}
	return len(h.asked) > h.from
}

func (h *faultyUpstream) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// most is how long an adapter may take where nothing is left to wait for.
const most = 60 * time.Second

// within does what must end by itself. It returns an error if only the upstream's death ended it.
func (h *faultyUpstream) within(do func()) error {
	death := time.AfterFunc(most, func() { h.cut(true) })
	if do(); !death.Stop() {
		return fmt.Errorf("it did not end within %v", most)
	}
	return nil
}

// end returns an error if the client still holds a connection whose request it no longer wants.
func (h *faultyUpstream) end() error {
	h.Close()
	h.cut(false)
	return h.within(h.busy.Wait)
}

// cut ends the connections that wait for a request, or all.
func (h *faultyUpstream) cut(all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	for c, idle := range h.conns {
		if idle || all {
			c.Close()
		}
	}
}
