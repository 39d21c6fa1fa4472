package survival_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

const (
	realLease     = 30 * time.Second
	afterTheLease = 5 * time.Second
	longestWait   = 3 * time.Second // for a node that stands still, beyond what an answer takes in calm
	pauses        = 5

	// longestSilence is until it is noticed on all connections. One after the other would be noticed by the calls that
	// use them, in ten seconds each.
	longestSilence = 15 * time.Second
)

// When a node is killed, its work is refunded, or queued for another node, within five seconds after the end of its
// lease.
func TestRecoveryOfADeadNode(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w := startCluster(t, plan{replication: postgrestest.Synchronous, seed: seed(t)})
	defer w.report()
	dead, alive := w.nodes[0].current(), w.nodes[1].current()
	const forLong = "[fake:delay=2m]"
	waited, queued := operation{prompt: "waited for " + forLong, n: 1}, operation{prompt: "queued " + forLong, n: 1,
		async: true}
	go dead.Do(t.Context(), waited.request(w.asker.key)) // whose answer never comes
	find := func(o operation) (id, status string) {
		for _, g := range dead.MustGenerations(t, w.asker.key, "") {
			if g.Prompt == o.prompt {
				return g.ID, g.Status
			}
		}
		return "", ""
	}
	for _, n := range w.nodes[1:] { // what is queued is to be the dead one's
		is.NoErr(n.current().Signal(syscall.SIGSTOP))
	}
	answer, err := dead.Do(t.Context(), queued.request(w.asker.key))
	is.NoErr(err)
	is.Equal(answer.Status, http.StatusAccepted)
	var waitedID, queuedID string
	daemontest.Eventually(t, time.Minute, "both are under way", func() (both bool) {
		var first, second string
		waitedID, first = find(waited)
		queuedID, second = find(queued)
		return first == "processing" && second == "processing"
	})
	for _, n := range w.nodes[1:] {
		is.NoErr(n.current().Signal(syscall.SIGCONT))
	}
	dead.Kill()
	began := time.Now()
	left := map[string]func() bool{
		"refunded": func() bool { return alive.MustGeneration(t, w.asker.key, waitedID).Status == "failed" },
		// it is queued for a second, then the attempt of another
		"nobody's lease": func() bool { return !w.holds(queuedID) },
	}
	daemontest.Eventually(t, time.Minute, "one is refunded and the other one waits for another", func() bool {
		for what, holds := range left {
			if holds() {
				took := time.Since(began)
				t.Logf("%s %v after the kill", what, took.Round(time.Millisecond))
				is.True(took <= realLease+afterTheLease)
				delete(left, what)
			}
		}
		return len(left) == 0
	})
}

// holds reports whether the database still has the lease of a generation's first attempt.
func (w *cluster) holds(id string) bool {
	const ask = "do $$ begin if exists(select from imagegend.leases where id = '%s'::bytea and attempt = 1) then raise 'held'; end if; end $$"
	return w.database.Exec("postgres", fmt.Sprintf(ask, id)) != nil
}

// A node that stands still in the middle of its transactions keeps nobody waiting for more than three seconds who asks
// another one, under load of the same accounts.
func TestPausedNode(t *testing.T) {
	is := is.New(t)
	w := startCluster(t, plan{replication: postgrestest.Synchronous, seed: seed(t)})
	defer w.report()
	for i := range pauses * times() {
		calm := w.slowestBeside(fmt.Sprintf("calm %d", i), beforeThem)
		is.NoErr(w.nodes[0].current().Signal(syscall.SIGSTOP))
		took := w.slowestBeside(fmt.Sprintf("pause %d", i), 4*time.Second)
		is.NoErr(w.nodes[0].current().Signal(syscall.SIGCONT))
		t.Logf("the slowest answer took %v beside the pause, %v in calm", took.Round(time.Millisecond),
			calm.Round(time.Millisecond))
		is.True(took <= calm+longestWait)
	}
	w.stopAndCompare("paused")
}

// slowestBeside asks all nodes but the first for images, for so long, and says how long the slowest answer took.
func (w *cluster) slowestBeside(why string, span time.Duration) time.Duration {
	var slowest atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(span)
	for i, n := range w.nodes[1:] {
		wg.Go(func() {
			for j := 0; time.Now().Before(end); j++ {
				o := operation{prompt: fmt.Sprintf("%s, node %d, %d", why, i, j), n: 1}
				began := time.Now()
				answer, err := n.current().Do(w.Context(), o.request(w.asker.key))
				for took := int64(time.Since(began)); took > slowest.Load(); {
					slowest.Store(took)
				}
				if err != nil || answer.Status != http.StatusOK {
					w.Errorf("%s: %v, %s", o.prompt, err, answer.Body)
					return
				}
				w.hear(o, answer)
			}
		})
	}
	wg.Wait()
	return time.Duration(slowest.Load())
}

// hear hands an answer of the asker's to the auditor.
func (w *cluster) hear(o operation, answer daemontest.Answer) {
	w.asking.Lock()
	defer w.asking.Unlock()
	w.asker.take(o, answer)
}

// A node whose connections to the database a firewall has forgotten, or of which the machine is gone, makes images
// again once the network was silent for ten seconds: nobody tells it. It has many connections, and little to do, so
// that few calls would come upon them.
func TestForgottenConnections(t *testing.T) {
	is := is.New(t)
	w := startCluster(t, plan{replication: postgrestest.Synchronous, seed: seed(t)})
	defer w.report()
	var before sync.WaitGroup
	for i := range 24 { // more than it may have connections
		before.Go(func() { w.asker.succeed(t, w.nodes[0].current(), fmt.Sprintf("before, call %d", i)) })
	}
	before.Wait()
	daemontest.Eventually(t, time.Minute, "queued work is done", func() bool {
		return w.auditor.counted("asynchronous, succeeded") > 0
	})
	w.stopClients()
	defer w.nodes[0].forget()()
	began := time.Now()
	w.asker.succeed(t, w.nodes[0].current(), "forgotten")
	took := time.Since(began)
	t.Logf("%v after they were forgotten", took.Round(time.Millisecond))
	is.True(took <= longestSilence)
	w.stopAndCompare("forgotten")
}

// A node whose wall clock is a year off makes images as any other, and dates them as any other: the time that counts is
// the database's, and the object store takes what the node signs.
func TestNodeWithAWrongClock(t *testing.T) {
	is := is.New(t)
	w := startCluster(t, plan{replication: postgrestest.Synchronous, program: altered(t), seed: seed(t)})
	defer w.report()
	n := w.nodes[0]
	for _, off := range []time.Duration{-year, year} {
		n.current().Kill()
		n.clock.set(t, off)
		n.start(t)
		w.works(fmt.Sprintf("it began %v off", off))
		n.clock.set(t, 0)
		w.works(fmt.Sprintf("it was set right from %v", off))
		n.clock.set(t, off)
		w.works(fmt.Sprintf("it leapt by %v", off))
		n.clock.set(t, 0)
	}
	is.True(w.auditor.outcomes["references"] > 0)
	w.stopAndCompare("clock")
}

// works has the first node make an image that is waited for and one from a reference that is not, and looks at their
// dates.
func (w *cluster) works(why string) {
	w.Helper()
	is := is.New(w.T)
	<-time.After(200 * time.Millisecond) // within which it sees its clock
	d := w.nodes[0].current()
	for _, o := range []operation{{prompt: why, n: 1}, {prompt: why + ", with references", n: 1, references: 2}} {
		answer, err := d.Do(w.Context(), o.request(w.asker.key))
		is.NoErr(err)
		w.asker.take(o, answer)
		var g struct {
			CreatedAt   time.Time `json:"created_at"`
			CompletedAt time.Time `json:"completed_at"`
		}
		if answer.Status != http.StatusOK {
			w.Errorf("%s: status %d: %s", o.prompt, answer.Status, answer.Body)
			continue
		}
		answer.Into(w.T, &g)
		for _, at := range []time.Time{g.CreatedAt, g.CompletedAt} {
			if off := time.Since(at).Abs(); off > time.Minute {
				w.Errorf("%s: it is dated %v, %v off", o.prompt, at, off)
			}
		}
		if o.references > 0 {
			w.auditor.count("references")
		}
	}
}
