package daemon

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/netip"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/scrape"
	"github.com/imagegend/imagegend/internal/httpguard"
)

const (
	// opsConnections bounds the connections to the address for operators. A silent one makes room for a new one.
	opsConnections = 32
	// opsPatience bounds how long a header may take to arrive, and an answer for monitoring to be received.
	opsPatience = 10 * time.Second
	// opsIdle is how long a connection may be silent. Monitoring asks every minute or more often, so its connection
	// lasts.
	opsIdle = 2 * time.Minute
	// opsHeader bounds a header, in bytes.
	opsHeader = 16 << 10
)

// ops is the address for operators. A nil *ops is that of a service without one; Close and shutDown do nothing then.
type ops struct {
	*connections
	server *http.Server // nil until the service starts
}

// listenForOps takes the address for operators; nil if there is to be none. No address is exempt from its bounds.
func listenForOps(o Options) (*ops, error) {
	if o.OpsAddr == "" {
		return nil, nil
	}
	l, err := listenTCP(o.OpsAddr, "ops-addr")
	if err != nil {
		return nil, err
	}
	nobody := func(netip.Addr) bool { return false }
	return &ops{connections: newConnections(l, opsConnections, opsConnections, nobody)}, nil
}

// newOpsServer sets no limit on the time of an answer, since a backup takes long. What monitoring asks has one of its
// own, see inTime.
func newOpsServer(h http.Handler, o *ops, troubles *log.Logger) *http.Server {
	return &http.Server{Handler: httpguard.Around(h), ReadHeaderTimeout: opsPatience, IdleTimeout: opsIdle,
		MaxHeaderBytes: opsHeader, ConnState: o.state, ErrorLog: troubles}
}

// url may be called once the server is set up: only then is it known whether it speaks TLS.
func (o *ops) url() string {
	if o.server.TLSConfig != nil {
		return "https://" + o.Addr().String()
	}
	return "http://" + o.Addr().String()
}

// Close stops listening.
func (o *ops) Close() error {
	if o == nil {
		return nil
	}
	return o.connections.Close()
}

// shutDown stops the server. Answers have until ctx ends to be sent.
func (o *ops) shutDown(ctx context.Context) {
	if o != nil && o.server != nil && o.server.Shutdown(ctx) != nil {
		o.server.Close()
	}
}

// watching serves what monitoring asks, on the address for operators and on the admin socket.
func (d *daemon) watching(l *adminserver.Local) *http.ServeMux {
	mux := http.NewServeMux()
	// It says that the process answers, and nothing about whether it takes work.
	mux.Handle("GET /healthz", inTime(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"status":"ok"}`+"\n")
	})))
	mux.Handle("GET /metrics", inTime(scrape.Handler(d.options.Version, d.metrics)))
	mux.Handle("GET /readyz", inTime(adminserver.Ready(l)))
	return mux
}

// inTime bounds the time in which the caller must take the answer, for this answer alone.
func inTime(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// An error means that the connection has no deadlines, as in a test.
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(opsPatience))
		h.ServeHTTP(w, r)
		http.NewResponseController(w).SetWriteDeadline(time.Time{})
	})
}

// ahead lets first answer what it has a pattern for, and next everything else.
func ahead(first *http.ServeMux, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := first.Handler(r); pattern != "" {
			first.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
