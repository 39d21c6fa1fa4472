package proxies

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/imagegend/imagegend/internal/clientaddr"
)

// node stands where an example has a node. It tells what reached it.
type node struct {
	name     string
	listener net.Listener
	server   *http.Server
	ready    atomic.Bool
	proceed  chan struct{} // what a stream waits for after its first line
	began    chan struct{} // an upload has begun to arrive
}

func startNode(t *testing.T, name string) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{name: name, listener: l, proceed: make(chan struct{}), began: make(chan struct{}, 1)}
	n.ready.Store(true)
	mux := http.NewServeMux()
	mux.HandleFunc("/", n.tell)
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !n.ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/api/v1/images/generations", n.receive)
	mux.HandleFunc("/stream", n.stream)
	n.server = &http.Server{Handler: mux}
	go n.server.Serve(l)
	t.Cleanup(func() { n.server.Close() })
	return n
}

func (n *node) address() string { return n.listener.Addr().String() }

// proxy is where all proxies call from.
var proxy = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

// tell answers with what the daemon goes by: the client's address, and the address that it asked for.
func (n *node) tell(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Node", n.name)
	fmt.Fprintf(w, "%s %s://%s, host %s", clientaddr.Of(r, proxy), r.Header.Get("X-Forwarded-Proto"),
		r.Header.Get("X-Forwarded-Host"), r.Host)
}

// receive answers with the number of bytes that came.
func (n *node) receive(w http.ResponseWriter, r *http.Request) {
	one, _ := io.CopyN(io.Discard, r.Body, 1)
	n.began <- struct{}{}
	rest, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
	io.WriteString(w, strconv.FormatInt(one+rest, 10))
}

// stream sends a line, and the second one when the first was received.
func (n *node) stream(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, "first\n")
	http.NewResponseController(w).Flush()
	<-n.proceed
	io.WriteString(w, "second\n")
}
