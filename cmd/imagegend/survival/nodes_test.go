package survival_test

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// node is one of several daemons that share a database and an object store. It reaches the database by proxies, one for
// the primary and one for the standby.
type node struct {
	options daemontest.Options
	proxies []*proxy

	mu     sync.Mutex
	daemon *daemontest.Daemon
}

func (n *node) current() *daemontest.Daemon {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.daemon
}

func (n *node) start(t *testing.T) {
	t.Helper()
	d := daemontest.Start(t, n.options)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.daemon = d
}

// cut ends all connections to the database.
func (n *node) cut() {
	for _, p := range n.proxies {
		p.cut()
	}
}

// stall keeps all bytes to and from the database back until resume.
func (n *node) stall() (resume func()) {
	var all []func()
	for _, p := range n.proxies {
		all = append(all, p.stall())
	}
	return func() {
		for _, resume := range all {
			resume()
		}
	}
}

// town is three nodes, what they share, and the siege that is laid to them.
type town struct {
	*siege
	database *postgrestest.Pair
	objects  *s3test.Server
	nodes    []*node
	asker    *client // who is no part of the load
	relieve  func()  // ends the clients
}

// besiegeNodes starts three nodes and their clients.
func besiegeNodes(t *testing.T, r postgrestest.Replication) *town {
	t.Helper()
	w := &town{database: postgrestest.StartPair(t, r), objects: s3test.Start(t)}
	images := w.objects.Address()
	for range 3 {
		n := new(node)
		var ports []int
		for _, port := range w.database.Ports() {
			p := newProxy(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			n.proxies, ports = append(n.proxies, p), append(ports, p.port())
		}
		n.options = daemontest.Options{DataDir: t.TempDir(), Args: fixedAddress,
			Env: []string{"IMAGEGEND_DATABASE=" + w.database.Address("postgres", ports), "IMAGEGEND_IMAGES=" + images}}
		w.nodes = append(w.nodes, n)
	}
	random := seed(t)
	w.siege = besiege(t, random, w.nodes[0].options)
	for _, n := range w.nodes {
		n.start(t)
	}
	w.asker = w.clients[0]
	w.load(random)
	return w
}

// load has clients work until they are relieved.
func (w *town) load(random uint64) {
	var ending atomic.Bool
	ctx, cancel := context.WithCancel(w.Context())
	var wg sync.WaitGroup
	for i, c := range w.clients[1:] {
		choice := rand.New(rand.NewPCG(random, uint64(100+i)))
		wg.Go(func() { c.workAnywhere(ctx, w.nodes, choice, &ending) })
	}
	w.relieve = func() {
		ending.Store(true)
		wg.Wait()
		cancel()
	}
}

// workAnywhere asks one node or another. A node at fault may give no answer, or one that it cannot serve: what it has
// acknowledged is compared at the end.
func (c *client) workAnywhere(ctx context.Context, nodes []*node, choice *rand.Rand, ending *atomic.Bool) {
	for !ending.Load() {
		if err := c.step(ctx, nodes[choice.IntN(len(nodes))].current()); err != nil {
			c.auditor.count("no answer")
		}
	}
}

// reckon ends the siege and compares all there is.
func (w *town) reckon(proof string) {
	w.Helper()
	is := is.New(w.T)
	w.relieve()
	w.compare(w.nodes[0].current())
	for _, n := range w.nodes {
		is.Equal(n.current().Terminate(30*time.Second), 0)
	}
	report(w.T, proof, w.auditor.outcomes)
	is.True(w.auditor.outcomes["succeeded"] > 0)
	is.True(w.auditor.outcomes["asynchronous, succeeded"] > 0)
}

// any is one of the nodes.
func (w *town) any() *node { return w.nodes[w.random.IntN(len(w.nodes))] }

func (s *siege) span(longest time.Duration) time.Duration {
	return time.Duration(s.random.Int64N(int64(longest)))
}
