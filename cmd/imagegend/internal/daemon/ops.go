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
	// opsPatience bounds how long a header may take to arrive, then its body, and each part of an answer to be taken.
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

// newOpsServer sets no limit on the time until an answer is whole, since a backup takes long.
func newOpsServer(h http.Handler, o *ops, troubles *log.Logger) *http.Server {
	return &http.Server{Handler: httpguard.Around(inTime(h)), ReadHeaderTimeout: opsPatience, IdleTimeout: opsIdle,
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
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"status":"ok"}`+"\n")
	})
	mux.Handle("GET /metrics", scrape.Handler(d.options.Version, d.metrics))
	mux.Handle("GET /readyz", adminserver.Ready(l))
	return mux
}

// inTime bounds the time in which a body must have come, also one that nobody reads, and each part of an answer must be
// taken: nobody needs a key to send a part of a request.
func inTime(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &timed{ResponseWriter: w, control: http.NewResponseController(w)}
		if r.Body != http.NoBody {
			t.incoming = &timedBody{r.Body, t.control, false}
			r = r.WithContext(r.Context()) // a copy: net/http looks at the body of its own
			r.Body = t.incoming
			t.control.SetReadDeadline(time.Now().Add(opsPatience))
		}
		t.extend()
		h.ServeHTTP(t, r)
		t.extend() // for what is still to be sent
	})
}

const (
	// opsLingering is how long an answer that comes before the end of the body waits for the rest of it, which nobody
	// reads.
	opsLingering = 2 * time.Second
	// opsPart is how much of an answer must be taken within opsPatience.
	opsPart = 64 << 10
)

// timed is an answer that must be taken in time.
type timed struct {
	http.ResponseWriter
	control  *http.ResponseController
	incoming *timedBody // nil: there is none
}

func (t *timed) extend() { t.control.SetWriteDeadline(time.Now().Add(opsPatience)) }

// linger shortens the time for a body that is answered before it has ended.
func (t *timed) linger() {
	if t.incoming != nil && !t.incoming.ended {
		t.control.SetReadDeadline(time.Now().Add(opsLingering))
	}
}

// WriteHeader implements http.ResponseWriter.
func (t *timed) WriteHeader(status int) {
	t.linger()
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *timed) Write(p []byte) (n int, err error) {
	t.linger()
	for err == nil && n < len(p) {
		t.extend()
		var part int
		part, err = t.ResponseWriter.Write(p[n:min(len(p), n+opsPart)])
		n += part
	}
	return n, err
}

// Unwrap lets an http.ResponseController flush the answer.
func (t *timed) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// timedBody is a body that must come in time. When it is whole, nothing is waited for any more: net/http then reads on,
// to notice that the caller has gone, and would take a deadline for that.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	ended   bool
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.ended = true
		b.control.SetReadDeadline(time.Time{})
	}
	return n, err
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
