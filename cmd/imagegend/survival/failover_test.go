package survival_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

const (
	failovers  = 3
	beforeThem = 2 * time.Second
	detour     = 500 * time.Millisecond // how long the primary goes on alone
	promoted   = 2 * time.Second        // after which all nodes answer, beyond what that takes in calm
)

// The primary loses its standby under load, goes on for a while and falls over, and the standby is promoted: what was
// acknowledged is there, for nothing was that the standby did not have. All nodes answer again within two seconds.
func TestFailover(t *testing.T) {
	is := is.New(t)
	w := startCluster(t, plan{replication: postgrestest.Synchronous, hosts: 2, seed: seed(t)})
	defer w.report()
	for i := range failovers * times() {
		<-time.After(beforeThem)
		calm := w.answer(fmt.Sprintf("calm %d", i))
		w.failOver()
		took := w.answer(fmt.Sprintf("failover %d", i))
		t.Logf("all nodes have made an image %v after the promotion; in calm that takes %v",
			took.Round(time.Millisecond), calm.Round(time.Millisecond))
		is.True(took <= promoted+calm)
		w.auditor.count("failovers")
		w.database.Rejoin(t)
	}
	w.stopAndCompare("failover")
}

// The control of the above: where a commit is acknowledged that the standby does not have, it is lost, and it shows.
func TestAsynchronousFailover(t *testing.T) {
	is := is.New(t)
	w := startCluster(t, plan{replication: postgrestest.Asynchronous, seed: seed(t)})
	<-time.After(beforeThem)
	w.answer("before")
	w.failOver()
	w.answer("after")
	w.stopClients()
	w.auditor.wrong = nil
	w.auditor.compareAll(t.Context(), w.nodes[0].current())
	t.Logf("%d of %d generations are lost", len(w.auditor.wrong), len(w.auditor.facts))
	is.True(len(w.auditor.wrong) > 0)
}

func (w *cluster) failOver() {
	w.Helper()
	w.database.Detach(w)
	<-time.After(detour)
	w.database.Kill()
	w.database.Promote(w)
}

// answer has each node make an image, and says how long it took.
func (w *cluster) answer(why string) time.Duration {
	began := time.Now()
	var wg sync.WaitGroup
	for i, n := range w.nodes {
		wg.Go(func() { w.asker.succeed(w.T, n.current(), fmt.Sprintf("%s, node %d", why, i)) })
	}
	wg.Wait()
	return time.Since(began)
}

// succeed asks for an image until it is there.
func (c *client) succeed(t *testing.T, d *daemontest.Daemon, why string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for try := 0; ctx.Err() == nil; try++ {
		o := operation{prompt: fmt.Sprintf("%s, %s, try %d", c.name, why, try), n: 1}
		answer, err := d.Do(ctx, o.request(c.key))
		if err == nil && answer.Code() != "internalError" {
			c.take(o, answer)
		}
		if err == nil && answer.Status == http.StatusOK {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%s: no image within a minute", why)
}
