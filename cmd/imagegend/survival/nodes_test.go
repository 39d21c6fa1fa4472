package survival_test

import (
	"context"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/s3"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// node is one of several daemons that share a database and an object store. It reaches the database by proxies, one for
// the primary and one for the standby.
type node struct {
	options daemontest.Options
	proxies []*proxy
	poolers []*postgrestest.Pooler // between the proxies and the database; none: it does without
	clock   wallClock
	models  string // the file

	mu     sync.Mutex
	daemon *daemontest.Daemon
}

func (n *node) current() *daemontest.Daemon {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.daemon
}

// startLimit is how long a node may take to be up, of which others may be at fault.
const startLimit = 3 * time.Minute

// start starts the daemon, again and again as a supervisor does until it is up: the database may be away.
func (n *node) start(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(startLimit); ; {
		d := daemontest.Launch(t, n.options)
		err := d.Ready()
		if err == nil {
			n.mu.Lock()
			n.daemon = d
			n.mu.Unlock()
			return
		}
		d.Kill()
		if time.Now().After(end) {
			t.Fatalf("a node is not up within %v: %v\n%s", startLimit, err, d.Output())
		}
	}
}

// cut ends all connections to the database.
func (n *node) cut() {
	for _, p := range n.proxies {
		p.cut()
	}
}

// stall keeps all bytes to and from the database back until resume.
func (n *node) stall() (resume func()) { return n.each((*proxy).stall) }

// forget does so with those of the connections that are open.
func (n *node) forget() (end func()) { return n.each((*proxy).forget) }

func (n *node) each(f func(*proxy) func()) (end func()) {
	var ends []func()
	for _, p := range n.proxies {
		ends = append(ends, f(p))
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// offer writes which models the node offers once it reads them anew.
func (n *node) offer(t *testing.T, models ...string) {
	t.Helper()
	text := "models:\n"
	for _, m := range models {
		text += "  - {id: " + m + ", provider: {type: fake}, credits: {1K: 1}}\n"
	}
	check(t, os.WriteFile(n.models, []byte(text), 0o600))
}

// cluster is three nodes, what they share, and the clients that load them.
type cluster struct {
	*workload
	database    *postgrestest.Pair
	objects     *s3test.Server
	images      string // the address
	nodes       []*node
	asker       *client // does not belong to the load
	asking      sync.Mutex
	stopClients func() // ends the clients
}

// plan says how a cluster is built.
type plan struct {
	replication postgrestest.Replication
	program     string // "": that which people run
	pooled      bool   // the last node reaches the database through PgBouncer
	hosts       int    // programs that order in transactions of their own
	seed        uint64
}

// startCluster starts three nodes and their clients.
func startCluster(t *testing.T, p plan) *cluster {
	t.Helper()
	w := &cluster{database: postgrestest.StartPair(t, p.replication), objects: s3test.Start(t)}
	w.images = w.objects.Address()
	for i := range 3 {
		w.nodes = append(w.nodes, w.newNode(t, p, p.pooled && i == 2))
	}
	w.workload = newWorkload(t, p.seed, w.nodes[0].options)
	for _, n := range w.nodes {
		n.start(t)
	}
	w.asker = w.clients[0]
	var hosts []*host
	for range p.hosts {
		hosts = append(hosts, w.startHost())
	}
	w.load(p.seed, hosts)
	return w
}

func (w *cluster) newNode(t *testing.T, p plan, pooled bool) *node {
	t.Helper()
	n := &node{clock: newWallClock(t), models: filepath.Join(t.TempDir(), "models.yaml")}
	var ports []int
	for _, port := range w.database.Ports() {
		if pooled {
			pooler := w.database.Pool(t, port)
			n.poolers, port = append(n.poolers, pooler), pooler.Port()
		}
		p := newProxy(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		n.proxies, ports = append(n.proxies, p), append(ports, p.port())
	}
	n.offer(t, "fake-1", "fake-2")
	n.options = daemontest.Options{DataDir: t.TempDir(), Program: p.program, Models: true,
		Args: slices.Concat([]string{"--models", n.models}, fixedAddress, withFeed),
		Env: []string{"IMAGEGEND_DATABASE=" + w.database.Address("postgres", ports), "IMAGEGEND_IMAGES=" + w.images,
			n.clock.variable()}}
	return n
}

// load has clients work until they are stopped.
func (w *cluster) load(seed uint64, hosts []*host) {
	var ending atomic.Bool
	ctx, cancel := context.WithCancel(w.Context())
	var wg sync.WaitGroup
	for i, c := range w.clients[1:] {
		choice := rand.New(rand.NewPCG(seed, uint64(100+i)))
		c.many = true
		wg.Go(func() { c.workAnywhere(ctx, w.nodes, choice, &ending) })
	}
	var reading sync.WaitGroup
	anywhere := rand.New(rand.NewPCG(seed, 99))
	reading.Go(func() {
		w.follower.follow(ctx, func() *daemontest.Daemon { return w.nodes[anywhere.IntN(len(w.nodes))].current() })
	})
	ordering, end := context.WithCancel(ctx)
	for i, h := range hosts {
		wg.Go(func() { h.order(ordering, rand.New(rand.NewPCG(seed, uint64(200+i)))) })
	}
	w.stopClients = func() {
		ending.Store(true)
		end()
		wg.Wait()
		cancel()
		reading.Wait()
	}
}

const (
	patience = 4 * time.Second        // after which a client hangs up
	thought  = 150 * time.Millisecond // at most, between two requests: several clusters share a machine
	sulking  = 600 * time.Millisecond // at most, after one that was not answered
)

// workAnywhere asks one node or another. A node at fault may give no answer, or one that it cannot serve: what it has
// acknowledged is compared at the end.
func (c *client) workAnywhere(ctx context.Context, nodes []*node, choice *rand.Rand, ending *atomic.Bool) {
	for !ending.Load() {
		asking, cancel := context.WithTimeout(ctx, patience)
		wait := thought
		if err := c.step(asking, nodes[choice.IntN(len(nodes))].current()); err != nil {
			c.auditor.count("no answer")
			wait = sulking
		}
		cancel()
		<-time.After(span(choice, wait))
	}
}

// stopAndCompare stops the clients and compares all there is.
func (w *cluster) stopAndCompare(proof string) {
	w.Helper()
	is := is.New(w.T)
	w.stopClients()
	w.mend()
	images := w.compare(w.nodes[0].current())
	for _, n := range w.nodes {
		is.Equal(n.current().Terminate(30*time.Second), 0)
	}
	w.sweep(images)
	report(w.T, proof, w.auditor.outcomes)
	is.True(w.auditor.outcomes["succeeded"] > 0)
	is.True(w.auditor.outcomes["asynchronous, succeeded"] > 0)
}

// mend has all nodes offer all models, by the right time.
func (w *cluster) mend() {
	w.Helper()
	for _, n := range w.nodes {
		n.clock.set(w.T, 0)
		n.offer(w.T, "fake-1", "fake-2")
		check(w.T, n.current().Signal(hangUp))
	}
}

// sweep removes what no record names, as a node does once it is two days old, and looks whether what is left are the
// images.
func (w *cluster) sweep(images int) {
	w.Helper()
	ctx := w.Context()
	place, err := s3.ParseURL(w.images)
	check(w.T, err)
	place.Dir = w.TempDir()
	store, err := s3.Open(ctx, place)
	check(w.T, err)
	defer store.Close()
	db, err := postgres.Open(ctx, postgres.Config{Migrate: true,
		URL: w.database.Address("postgres", w.database.Ports())})
	check(w.T, err)
	defer db.Close()
	w.compareFeed(db)
	removed, err := store.RemoveOrphans(ctx, 0, db)
	check(w.T, err)
	w.auditor.outcomes["orphans swept"] = removed
	kinds := map[string]int{}
	for _, key := range w.objects.Keys(w.T) {
		key = strings.TrimPrefix(key, place.Prefix+"/")
		if kind, _, _ := strings.Cut(key, "/"); !strings.HasSuffix(key, "-t") { // a thumbnail's
			kinds[kind]++
		}
	}
	if diff := cmp.Diff(map[string]int{"images": images}, kinds); diff != "" {
		w.Errorf("objects, for %d images (-wanted +there):\n%s", images, diff)
	}
}

func span(r *rand.Rand, longest time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(longest)))
}
