package survival_test

import (
	"context"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const drainLimit = 4 * time.Second

// Synchronous calls that SIGTERM meets, by what becomes of them.
const (
	ends   = "ends in time [fake:delay=2s]"
	partly = "one image is there, the other never comes [fake:images=1] [fake:hang]"
	never  = "no image ever comes [fake:hang]"
)

// SIGTERM: no new work, what is there is read to the end, running work ends or is settled with what
// is durable, queued work is left to the next start.
func TestDrainUnderLoad(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	// one slot is kept for another user
	limits := []string{"--drain-timeout", drainLimit.String(), "--concurrency", "7", "--attempt-timeout", "20s"}
	o := daemontest.Options{DataDir: t.TempDir(), Args: slices.Concat(fixedAddress, limits)}
	d := daemontest.Start(t, o)
	_, key := d.NewUser(1000)
	_, late := d.NewUser(10)
	c := newCrowd(t, d, key)
	c.fillSlots()
	for range 20 {
		c.queue("waits for a slot [fake:delay=10ms]")
	}

	is.NoErr(d.Signal(syscall.SIGTERM))
	c.draining()
	c.refuses(late)
	d.MustGeneration(t, key, c.async[0]) // reading goes on
	is.Equal(d.Wait(drainLimit+10*time.Second), 0)
	made := c.checkAnswers()

	c.d = daemontest.Start(t, o)
	c.nothingIsLost(made)
	c.d.Settled(t, key, 1000)
	c.d.Clean(t)
}

// fillSlots puts three synchronous and three asynchronous generations under way.
func (c *crowd) fillSlots() {
	c.Helper()
	for _, prompt := range []string{partly, never, ends} {
		c.call(prompt)
	}
	c.queue("ends in time [fake:delay=2s]")
	c.queue("takes too long [fake:delay=6s]")
	c.queue("takes too long [fake:images=1] [fake:delay=6s]")
	c.under(6)
}

// refuses checks that new work is turned away before any charge.
func (c *crowd) refuses(key string) {
	c.Helper()
	is := is.New(c)
	answer := c.d.Call(operation{prompt: "new work", n: 1}.request(key))
	is.Equal(answer.Status, http.StatusServiceUnavailable)
	is.Equal(answer.Code(), "overloaded")
	is.True(answer.Header.Get("Retry-After") != "")
	is.Equal(c.d.MustBalance(c.T, key), 10)
}

// checkAnswers checks the answers to the synchronous calls and returns what succeeded.
func (c *crowd) checkAnswers() (succeeded []daemontest.Generation) {
	c.Helper()
	is := is.New(c)
	for prompt, images := range map[string]int{ends: 2, partly: 1} {
		answer := c.answers[prompt]()
		is.Equal(answer.Status, http.StatusOK)
		var g daemontest.Generation
		answer.Into(c, &g)
		is.Equal(len(g.Images), images)
		is.Equal(g.Usage.Credits, images)
		succeeded = append(succeeded, g)
	}
	failed := c.answers[never]()
	is.Equal(failed.Status, http.StatusInternalServerError)
	is.Equal(failed.Code(), "generationFailed")
	return succeeded
}

// nothingIsLost checks that the answers still hold and that all queued work succeeds.
func (c *crowd) nothingIsLost(made []daemontest.Generation) {
	c.Helper()
	is := is.New(c)
	is.Equal(len(c.d.MustGenerations(c.T, c.key, "")), 3+len(c.async))
	for _, g := range made {
		is.Equal(contradiction(g, c.d.MustGeneration(c.T, c.key, g.ID)), "")
	}
	c.d.AllEnded(c.T, c.key, 30*time.Second)
	for _, id := range c.async {
		is.Equal(c.d.MustGeneration(c.T, c.key, id).Status, "succeeded")
	}
}

// Nothing is under way: SIGTERM ends the daemon without waiting.
func TestTerminateIdle(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--drain-timeout", "1m"}})
	is.Equal(d.Terminate(5*time.Second), 0)
}

// A second signal ends the daemon at once; what it leaves is put right by the next start.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	o := daemontest.Options{DataDir: t.TempDir(), Args: []string{"--drain-timeout", "1m"}}
	d := daemontest.Start(t, o)
	_, key := d.NewUser(10)
	var hung sync.WaitGroup
	hung.Go(func() { d.Do(context.Background(), operation{prompt: "[fake:hang] a fox", n: 2}.request(key)) })
	c := newCrowd(t, d, key)
	c.queue("a fox [fake:delay=1h]")
	c.under(2)
	is.NoErr(d.Signal(os.Interrupt))
	c.draining()
	is.Equal(d.Terminate(5*time.Second), 0)
	hung.Wait()

	o.Args = []string{"--attempt-timeout", "100ms"}
	d = daemontest.Start(t, o)
	d.AllEnded(t, key, 20*time.Second)
	for _, g := range d.MustGenerations(t, key, "") {
		is.Equal(g.Status, "failed")
	}
	d.Settled(t, key, 10)
	d.Clean(t)
}
