package daemon

import (
	"io"
	"net/http"
	"net/netip"
	"sync"

	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/internal/clientaddr"
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

// crowd bounds how many requests a client behind a trusted proxy has under way. Its connections are the proxy's, which
// are exempt from the bound on connections. It is safe for concurrent use.
type crowd struct {
	most    int
	proxies []netip.Prefix
	exempt  func(netip.Addr) bool

	mu     sync.Mutex
	atOnce map[netip.Addr]int // requests under way, by network; guarded by mu
}

func newCrowd(most int, proxies []netip.Prefix, exempt func(netip.Addr) bool) *crowd {
	return &crowd{most: most, proxies: proxies, exempt: exempt, atOnce: map[netip.Addr]int{}}
}

// watch refuses with 503 what exceeds a client's share. A client that connects directly is not counted here.
func (c *crowd) watch(next http.Handler) http.Handler {
	full := httpapi.WithDeadlines(httpapi.WithRequestID(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, crowded)
	})))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Where no trusted proxy is in between, client and peer are the same.
		client := clientaddr.Of(r, c.proxies)
		switch {
		case client == clientaddr.Peer(r.RemoteAddr) || c.exempt(client):
			next.ServeHTTP(w, r)
		case c.enter(clientaddr.Network(client)):
			defer c.leave(clientaddr.Network(client))
			next.ServeHTTP(w, r)
		default:
			full.ServeHTTP(w, r)
		}
	})
}

// enter takes one of a client's places, if one is free; leave gives it back. A client without requests has no entry,
// so the map is no larger than the number of requests.
func (c *crowd) enter(client netip.Addr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.atOnce[client] >= c.most {
		return false
	}
	c.atOnce[client]++
	return true
}

func (c *crowd) leave(client netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.atOnce[client]--; c.atOnce[client] == 0 {
		delete(c.atOnce, client)
	}
}
