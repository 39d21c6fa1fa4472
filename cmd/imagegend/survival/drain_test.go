package survival_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const drainLimit = 4 * time.Second

// crowd is work of every kind that SIGTERM can meet.
type crowd struct {
	*testing.T
	d       *daemontest.Daemon
	key     string
	answers map[string]func() daemontest.Answer // of synchronous calls, when they come
	async   []string                            // generations that were accepted
}

func newCrowd(t *testing.T, d *daemontest.Daemon, key string) *crowd {
	return &crowd{T: t, d: d, key: key, answers: map[string]func() daemontest.Answer{}}
}

// call sends a synchronous request, whose answer is asked for later.
func (c *crowd) call(prompt string) {
	done := make(chan struct{})
	var answer daemontest.Answer
	var err error
	go func() {
		defer close(done)
		answer, err = c.d.Do(context.Background(), operation{prompt: prompt, n: 2}.request(c.key))
	}()
	c.answers[prompt] = func() daemontest.Answer {
		<-done
		if err != nil {
			c.Errorf("%q was not answered: %v", prompt, err)
		}
		return answer
	}
}

// queue sends an asynchronous request.
func (c *crowd) queue(prompt string) {
	c.Helper()
	var g generation
	c.d.Call(operation{prompt: prompt, n: 2, async: true}.request(c.key)).Into(c, &g)
	c.async = append(c.async, g.ID)
}

// under waits until so many generations are under way.
func (c *crowd) under(way int) {
	c.Helper()
	eventually(c.T, 10*time.Second, "the work is under way", func() bool {
		return len(mustList(c.T, c.d, c.key, "processing")) == way
	})
}

// draining waits until the daemon says that it takes no more.
func (c *crowd) draining() {
	c.Helper()
	eventually(c.T, time.Second, "the daemon is not ready", func() bool {
		return c.d.Call(get("", "/readyz")).Status == http.StatusServiceUnavailable
	})
}

// SIGTERM: no new work, what is there is read to the end, running work ends or is settled with what
// is durable, queued work is left to the next start.
func TestDrainUnderLoad(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	o := daemontest.Options{DataDir: t.TempDir(), Args: []string{"--drain-timeout", drainLimit.String(), "--concurrency", "6", "--attempt-timeout", "20s"}}
	d := daemontest.Start(t, o)
	_, key := d.NewUser(1000)
	_, late := d.NewUser(10)
	c := newCrowd(t, d, key)
	const partly, never, ends = "partly [fake:images=1] [fake:hang]", "never [fake:hang]", "ends [fake:delay=2s]"
	for _, prompt := range []string{partly, never, ends} {
		c.call(prompt)
	}
	c.queue("ends in time [fake:delay=2s]")
	c.queue("too long [fake:delay=6s]")
	c.queue("too long [fake:images=1] [fake:delay=6s]")
	c.under(6)
	for range 20 {
		c.queue("waits for a slot [fake:delay=10ms]")
	}

	is.NoErr(d.Signal(syscall.SIGTERM))
	c.draining()
	refused := d.Call(operation{prompt: "new work", n: 1}.request(late))
	is.Equal(refused.Status, http.StatusServiceUnavailable)
	is.Equal(refused.Code(), "overloaded")
	is.True(refused.Header.Get("Retry-After") != "")
	is.Equal(mustBalance(t, d, late), 10)
	is.Equal(d.Call(getGeneration(key, c.async[0])).Status, http.StatusOK) // reading goes on
	is.Equal(d.Wait(drainLimit+5*time.Second), 0)

	told := map[string]generation{}
	for prompt, status := range map[string]int{ends: 200, partly: 200, never: 500} {
		answer := c.answers[prompt]()
		is.Equal(answer.Status, status)
		var g generation
		is.NoErr(json.Unmarshal(answer.Body, &g))
		told[prompt] = g
	}
	is.Equal(len(told[ends].Images), 2)
	is.Equal(len(told[partly].Images), 1)
	is.Equal(told[partly].Usage.Credits, 1)
	is.Equal(c.answers[never]().Code(), "generationFailed")

	d = daemontest.Start(t, o)
	for _, id := range c.async {
		mustGeneration(t, d, key, id) // none is lost
	}
	allEnded(t, d, key, 30*time.Second)
	for _, id := range c.async {
		g := mustGeneration(t, d, key, id)
		is.Equal(g.Status, "succeeded")
		is.True(g.Usage.Credits >= 1)
	}
	for _, g := range told {
		if g.ID != "" {
			now := mustGeneration(t, d, key, g.ID)
			is.Equal(now.Status, "succeeded")
			is.Equal(len(now.Images), len(g.Images))
		}
	}
	is.Equal(len(mustList(t, d, key, "")), 3+len(c.async))
	settled(t, d, key, 1000)
	clean(t, d)
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
	is.NoErr(d.Signal(syscall.SIGTERM))
	c.draining()
	is.NoErr(d.Signal(syscall.SIGTERM))
	d.Wait(5 * time.Second)
	hung.Wait()

	o.Args = []string{"--attempt-timeout", "100ms"}
	d = daemontest.Start(t, o)
	allEnded(t, d, key, 20*time.Second)
	for _, g := range mustList(t, d, key, "") {
		is.Equal(g.Status, "failed")
	}
	settled(t, d, key, 10)
	clean(t, d)
}
