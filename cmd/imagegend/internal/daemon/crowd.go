package daemon

import (
	"io"
	"math"
	"net/http"
	"net/netip"

	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/internal/clientaddr"
	"github.com/imagegend/imagegend/internal/share"
)

const (
	// spareFiles are kept for the database, the log, the sockets and the requests of operators.
	spareFiles = 64
	// attemptFiles are those of one attempt at most: connections to upstreams, references and images. leastFiles are
	// those of an ordinary attempt.
	attemptFiles, leastFiles = 8, 3
	// requestFiles are those of one connection: itself, and the file that is sent or received.
	requestFiles = 2

	// unlimited is assumed as the limit on open files where there is none.
	unlimited = 1 << 20

	// Bounds on the connections in all, and from one address, whatever the limit on files.
	maxConnections    = 8192
	fewestConnections = 16
	maxOfOne          = 512
	fewestOfOne       = 8
)

// places divides the files that a process may have open: it returns how many connections there may be in all and from
// one address beside so many attempts at once. Attempts get at most half of the files; connections get what is left.
// tight says that the files do not suffice for ordinary attempts, or for the fewest connections.
func places(files, attempts int) (most, ofOne int, tight bool) {
	// With a limit of 4,096 files and 512 attempts: 4,032 are left after the spare ones, attempts get half of them,
	// 2,016, and the other half is for 1,008 connections.
	files -= spareFiles
	work := min(attemptFiles*attempts, files/2)
	left := (files - work) / requestFiles
	most = max(fewestConnections, min(left, maxConnections))
	return most, max(fewestOfOne, min(most/4, maxOfOne)), left < fewestConnections || work < leastFiles*attempts
}

// crowded is the body of the answer to a client with too many connections or requests at once.
const crowded = `{"error":{"message":"too many connections or requests at once from this address; try again soon","code":"overloaded"}}` + "\n"

// uncrowded bounds how many requests a client behind a trusted proxy has under way; what exceeds its share is refused
// with 503. Its connections are the proxy's, which are exempt from the bound on connections. A client that connects
// directly is not counted here. Limits go by network: a /64 of IPv6 is usually one customer's.
func (o Options) uncrowded(next http.Handler, most int) http.Handler {
	requests := share.New[netip.Addr](int64(most), math.MaxInt64)
	full := httpapi.WithDeadlines(httpapi.WithRequestID(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, crowded)
	})))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Where no trusted proxy is in between, client and peer are the same.
		client := clientaddr.Of(r, o.TrustedProxies)
		network := clientaddr.Network(client)
		switch {
		case client == clientaddr.Peer(r.RemoteAddr) || o.exempt(client):
			next.ServeHTTP(w, r)
		case requests.Take(network, 1):
			defer requests.Give(network, 1)
			next.ServeHTTP(w, r)
		default:
			full.ServeHTTP(w, r)
		}
	})
}
