package survival_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

const (
	nodeFaults  = 20
	calm        = 6 * time.Second  // at most, between two faults of a part
	short       = 2 * time.Second  // at most
	outage      = 10 * time.Second // of the object store
	beyondLease = lease + time.Second
	hangUp      = syscall.SIGHUP
	year        = 365 * 24 * time.Hour
)

// Three daemons share a database, with a standby, and an object store. Each of the nodes, the database and the object
// store go wrong, one thing after another and beside each other: nothing that any node has acknowledged is lost,
// nothing is charged twice, no credits of what came to nothing are kept, and nothing is left of what came to nothing.
func TestNodesUnderFaults(t *testing.T) {
	first := seed(t)
	for i := range clusters() {
		t.Run(fmt.Sprint("cluster ", i+1), func(t *testing.T) {
			t.Parallel()
			w := startCluster(t, plan{replication: postgrestest.Synchronous, program: altered(t), pooled: true,
				hosts: 3, seed: first + uint64(i)})
			defer w.report()
			w.suffer(nodeFaults * times())
			if !t.Failed() {
				w.stopAndCompare("nodes")
			}
		})
	}
}

// clusters is PROOF_CLUSTERS: how many run at once. A cluster waits most of the time.
func clusters() int {
	n, err := strconv.Atoi(os.Getenv("PROOF_CLUSTERS"))
	if err != nil {
		return 1
	}
	return max(1, n)
}

// fault goes wrong and right again.
type fault struct {
	name string
	pass func(r *rand.Rand)
}

// suffer has each part of the cluster go wrong again and again, until there were so many faults.
func (w *cluster) suffer(faults int) {
	var begun atomic.Int64
	var wg sync.WaitGroup
	for i, part := range w.parts() {
		r := rand.New(rand.NewPCG(w.random.Uint64(), uint64(i)))
		wg.Go(func() {
			for !w.Failed() {
				r.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
				for _, f := range part {
					<-time.After(span(r, calm))
					if begun.Add(1) > int64(faults) {
						return
					}
					since := time.Now()
					f.pass(r)
					w.Logf("%s, for %v", f.name, time.Since(since).Round(time.Millisecond))
					w.auditor.count("fault: " + f.name)
				}
			}
		})
	}
	wg.Wait()
	w.auditor.outcomes["faults"] = faults
}

// parts are what goes wrong one thing at a time, each with its faults.
func (w *cluster) parts() (parts [][]fault) {
	for _, n := range w.nodes {
		parts = append(parts, w.ofNode(n))
	}
	return append(parts, w.ofDatabase(), w.ofObjects())
}

func (w *cluster) ofNode(n *node) []fault {
	all := []fault{
		{"killed", func(*rand.Rand) { w.kill(n) }},
		{"killed, with a wrong clock", func(r *rand.Rand) { w.misdate(n, r, func() { w.kill(n) }) }},
		{"drained", func(*rand.Rand) {
			check(w.T, n.current().Signal(syscall.SIGTERM))
			n.current().Wait(startLimit)
			n.start(w.T)
		}},
		{"paused", func(r *rand.Rand) { w.pause(n, span(r, short)) }},
		{"paused beyond its lease", func(r *rand.Rand) { w.pause(n, beyondLease+span(r, short)) }},
		{"cut", func(*rand.Rand) { n.cut() }},
		{"stalled", func(r *rand.Rand) { after(span(r, short), n.stall()) }},
		{"forgotten by a firewall", func(r *rand.Rand) { after(span(r, short), n.forget()) }},
		{"wrong clock", func(r *rand.Rand) { w.misdate(n, r, func() { <-time.After(span(r, short)) }) }},
		{"other models", func(r *rand.Rand) {
			n.offer(w.T, "fake-1")
			check(w.T, n.current().Signal(hangUp))
			<-time.After(span(r, short))
			n.offer(w.T, "fake-1", "fake-2")
			check(w.T, n.current().Signal(hangUp))
		}},
	}
	if len(n.poolers) > 0 {
		all = append(all, fault{"pooler killed", func(*rand.Rand) {
			for _, p := range n.poolers {
				p.Kill()
				check(w.T, p.Start())
			}
		}})
	}
	return all
}

func after(wait time.Duration, f func()) {
	<-time.After(wait)
	f()
}

func (w *cluster) kill(n *node) {
	n.current().Kill()
	n.start(w.T)
}

func (w *cluster) pause(n *node, span time.Duration) {
	d := n.current()
	check(w.T, d.Signal(syscall.SIGSTOP))
	<-time.After(span)
	check(w.T, d.Signal(syscall.SIGCONT))
}

// misdate has the node's wall clock be a year off, one way or the other, for as long as f lasts.
func (w *cluster) misdate(n *node, r *rand.Rand, f func()) {
	n.clock.set(w.T, []time.Duration{-year, year}[r.IntN(2)])
	f()
	n.clock.set(w.T, 0)
}

func (w *cluster) ofDatabase() []fault {
	exec := func(sql string) { check(w.T, w.database.Exec("postgres", sql)) }
	return []fault{
		{"database killed", func(*rand.Rand) {
			w.database.Kill()
			w.database.Restart(w.T)
			w.database.Follow(w.T)
		}},
		{"standby promoted", func(*rand.Rand) {
			w.database.Kill()
			w.database.Promote(w.T)
			w.database.Rejoin(w.T)
		}},
		{"standby away", func(r *rand.Rand) {
			w.database.Detach(w.T)
			after(span(r, short), func() { w.database.Attach(w.T) })
		}},
		{"sessions ended", func(*rand.Rand) {
			exec("select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() and random() < 0.5")
		}},
		{"database read-only", func(r *rand.Rand) { // as managed ones are while their disk is full
			exec("alter system set default_transaction_read_only = on")
			exec("select pg_reload_conf()")
			<-time.After(span(r, short))
			exec("alter system reset default_transaction_read_only")
			exec("select pg_reload_conf()")
		}},
	}
}

func (w *cluster) ofObjects() []fault {
	return []fault{
		{"objects away", func(*rand.Rand) {
			w.objects.Stop()
			after(outage, func() { w.objects.Resume(w.T) })
		}},
		{"objects stand still", func(r *rand.Rand) { after(span(r, short), w.objects.Pause(w.T)) }},
	}
}
