package survival_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

const (
	nodeFaults   = 20
	betweenThem  = 500 * time.Millisecond
	longestFault = 3 * time.Second
)

// node is one of several daemons that share a database and an object store. It reaches the database by a proxy.
type node struct {
	options daemontest.Options
	proxy   *proxy

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

// Three daemons share a database and an object store. One is killed, stands still, loses its connections or waits for
// them in vain, or the object store is gone, again and again: nothing that any of them has acknowledged is lost, nothing
// is charged twice, and no credits of what came to nothing are kept.
func TestNodesUnderFaults(t *testing.T) {
	is := is.New(t)
	database, objects := postgrestest.Start(t), s3test.Start(t)
	url, images := database.Database(t), objects.Address()
	random := seed(t)
	var nodes []*node
	for range 3 {
		p := newProxy(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(database.Port())))
		_, port, err := net.SplitHostPort(p.listener.Addr().String())
		is.NoErr(err)
		through := strings.Replace(url, ":"+strconv.Itoa(database.Port())+"/", ":"+port+"/", 1)
		nodes = append(nodes, &node{proxy: p, options: daemontest.Options{DataDir: t.TempDir(), Args: fixedAddress,
			Env: []string{"IMAGEGEND_DATABASE=" + through, "IMAGEGEND_IMAGES=" + images}}})
	}
	s := besiege(t, random, nodes[0].options)
	defer s.report()
	for _, n := range nodes {
		n.start(t)
	}
	var ending atomic.Bool
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i, c := range s.clients {
		choice := rand.New(rand.NewPCG(random, uint64(100+i)))
		wg.Go(func() { c.workAnywhere(ctx, nodes, choice, &ending) })
	}
	faults := map[string]func(*node){
		"killed": func(n *node) {
			n.current().Kill()
			n.start(t)
		},
		"paused": func(n *node) {
			d := n.current()
			is.NoErr(d.Signal(syscall.SIGSTOP))
			<-time.After(s.span(longestFault))
			is.NoErr(d.Signal(syscall.SIGCONT))
		},
		"cut": func(n *node) { n.proxy.cut() },
		"stalled": func(n *node) {
			resume := n.proxy.stall()
			<-time.After(s.span(longestFault))
			resume()
		},
		"objects away": func(*node) {
			objects.Stop()
			<-time.After(s.span(longestFault))
			objects.Resume(t)
		},
	}
	kinds := slices.Sorted(maps.Keys(faults))
	for i := range nodeFaults * times() {
		kind := kinds[i%len(kinds)]
		faults[kind](nodes[s.random.IntN(len(nodes))])
		s.auditor.count(kind)
		<-time.After(betweenThem)
	}
	ending.Store(true)
	wg.Wait()
	cancel()
	s.compare(nodes[0].current())
	for _, n := range nodes {
		is.Equal(n.current().Terminate(30*time.Second), 0)
	}
	report(t, "nodes", s.auditor.outcomes)
	is.True(s.auditor.outcomes["succeeded"] > 0)
	is.True(s.auditor.outcomes["asynchronous, succeeded"] > 0)
}

func (s *siege) span(longest time.Duration) time.Duration {
	return time.Duration(s.random.Int64N(int64(longest)))
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
