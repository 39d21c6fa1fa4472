package survival_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

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
	var g daemontest.Generation
	c.d.Call(operation{prompt: prompt, n: 2, async: true}.request(c.key)).Into(c, &g)
	c.async = append(c.async, g.ID)
}

// under waits until so many generations are under way.
func (c *crowd) under(way int) {
	c.Helper()
	daemontest.Eventually(c.T, 10*time.Second, "the work is under way", func() bool {
		return len(c.d.MustGenerations(c.T, c.key, "processing")) == way
	})
}

// draining waits until the daemon says that it takes no more.
func (c *crowd) draining() {
	c.Helper()
	daemontest.Eventually(c.T, time.Second, "the daemon is not ready", func() bool {
		return c.d.Call(daemontest.Request{Path: "/readyz"}).Status == http.StatusServiceUnavailable
	})
}
