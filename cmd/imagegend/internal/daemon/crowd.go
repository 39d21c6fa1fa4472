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
	// spareFiles are the descriptors of the database, the log, the sockets and what operators ask for.
	spareFiles = 64
	// attemptFiles are those of one attempt: connections to upstreams, references and images; leastFiles are
	// those of an ordinary one.
	attemptFiles, leastFiles = 8, 3
	// requestFiles are those of one connection: itself, and the file that is read from or written to.
	requestFiles = 2

	// unlimited is as many files as count where there is no limit.
	unlimited = 1 << 20

	maxConnections    = 8192
	fewestConnections = 16
	maxOfOne          = 512
	fewestOfOne       = 8
)

// places tells how many connections there may be in all and of one address, where a process may have
// so many files open and makes so many attempts at once. Half of the files are for attempts, at most.
// tight: there are too few to go round.
func places(files, attempts int) (most, ofOne int, tight bool) {
	files -= spareFiles
	work := min(attemptFiles*attempts, files/2)
	left := (files - work) / requestFiles
	most = max(fewestConnections, min(left, maxConnections))
	return most, max(fewestOfOne, min(most/4, maxOfOne)), left < fewestConnections || work < leastFiles*attempts
}

// crowded is the answer to a client of whom there is too much at once.
const crowded = `{"error":{"message":"too many connections or requests at once from this address; try again soon","code":"overloaded"}}` + "\n"

// crowd bounds the requests at once of each client behind a trusted proxy, whose connections are the
// proxy's.
type crowd struct {
	most    int
	proxies []netip.Prefix
	exempt  func(netip.Addr) bool

	mu     sync.Mutex
	atOnce map[netip.Addr]int
}

func newCrowd(most int, proxies []netip.Prefix, exempt func(netip.Addr) bool) *crowd {
	return &crowd{most: most, proxies: proxies, exempt: exempt, atOnce: map[netip.Addr]int{}}
}

// watch lets next serve each client's share.
func (c *crowd) watch(next http.Handler) http.Handler {
	full := httpapi.WithRequestID(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, crowded)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
