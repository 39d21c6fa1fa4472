package daemon

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/netip"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
)

const (
	// opsConnections is how many connections there can be to the address for operators. Who says nothing makes
	// room for who comes.
	opsConnections = 32
	// opsPatience is how long a request's header may take to come, and an answer to be taken.
	opsPatience = 10 * time.Second
	// opsIdle is how long a connection may say nothing: monitoring asks every minute, or more often.
	opsIdle = 2 * time.Minute
	// opsHeader is the most bytes of a header.
	opsHeader = 16 << 10
)

// ops is the address for operators, of those who have one.
type ops struct {
	*connections
	server *http.Server // nil: it was not started
}

// listenForOps returns nil where there is to be none.
func listenForOps(o Options) (*ops, error) {
	if o.OpsAddr == "" {
		return nil, nil
	}
	l, err := open(o.OpsAddr, "ops-addr")
	if err != nil {
		return nil, err
	}
	nobody := func(netip.Addr) bool { return false }
	return &ops{connections: newConnections(l, opsConnections, opsConnections, nobody)}, nil
}

// newOpsServer serves operators.
func newOpsServer(h http.Handler, o *ops, troubles *log.Logger) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: opsPatience, IdleTimeout: opsIdle, MaxHeaderBytes: opsHeader, ConnState: o.state, ErrorLog: troubles}
}

func (o *ops) url() string {
	if o.server.TLSConfig != nil {
		return "https://" + o.Addr().String()
	}
	return "http://" + o.Addr().String()
}

// Close ends listening.
func (o *ops) Close() error {
	if o == nil {
		return nil
	}
	return o.connections.Close()
}

// shutDown lets answers leave until ctx ends.
func (o *ops) shutDown(ctx context.Context) {
	if o != nil && o.server != nil && o.server.Shutdown(ctx) != nil {
		o.server.Close()
	}
}

// watching is what monitoring asks, on the address for operators and on the admin socket.
func (d *daemon) watching(s admin.Service) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", inTime(http.HandlerFunc(healthy)))
	mux.Handle("GET /metrics", inTime(d.metrics.Handler()))
	mux.Handle("GET /readyz", inTime(admin.Ready(s)))
	return mux
}

func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"status":"ok"}`+"\n")
}

// inTime gives whoever asks a limited time to take the answer.
func inTime(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(opsPatience)) // fails where a test has no deadlines
		h.ServeHTTP(w, r)
		http.NewResponseController(w).SetWriteDeadline(time.Time{})
	})
}

// ahead has first answer what it knows, and next all else.
func ahead(first *http.ServeMux, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := first.Handler(r); pattern != "" {
			first.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
