package main_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// underWay waits until so many generations of an account are under way.
func underWay(t *testing.T, d *daemontest.Daemon, key string, n int) {
	t.Helper()
	until(t, "under way", func() bool { return len(d.MustGenerations(t, key, "processing")) == n })
}

// Under load: what runs is finished and answered, new work is refused, what is there can be read, also
// by the caller who was answered last, and what is queued is there after the next start.
func TestDrain(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--concurrency", "2"}})
	_, key := d.NewUser(100)
	slow := daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox [fake:delay=2s]",
		"size": "64x64"})
	queued := daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "size": "64x64",
		"async": true})

	answers := make(chan daemontest.Answer, 2)
	var callers sync.WaitGroup
	for range cap(answers) {
		callers.Go(func() {
			if a, err := d.Do(context.Background(), slow); err == nil {
				answers <- a
			}
		})
	}
	underWay(t, d, key, 2)
	var waiting daemontest.Generation
	accepted := d.Call(queued)
	is.Equal(accepted.Status, 202)
	accepted.Into(t, &waiting)

	is.NoErr(d.Signal(syscall.SIGTERM))
	until(t, "not ready", func() bool {
		return d.Call(daemontest.Request{Path: "/readyz"}).Status == http.StatusServiceUnavailable
	})
	refused := d.Call(queued)
	is.Equal(refused.Status, 503)
	is.Equal(refused.Code(), "overloaded")
	d.MustGeneration(t, key, waiting.ID)

	callers.Wait()
	close(answers)
	until(t, "all work has ended", func() bool { return strings.Contains(d.Output(), "all work has ended") })
	n := 0
	for a := range answers {
		is.Equal(a.Status, 200)
		var made struct{ Images []struct{ URL string } }
		a.Into(t, &made)
		is.Equal(d.Call(daemontest.Request{Path: made.Images[0].URL}).Status, 200)
		n++
	}
	is.Equal(n, 2)
	is.Equal(d.Wait(drainLimit), 0)

	again := daemontest.Start(t, daemontest.Options{DataDir: d.DataDir})
	until(t, "queued work done", func() bool { return again.MustGeneration(t, key, waiting.ID).Status == "succeeded" })
	says(t, again.Admin("audit"), "clean")
}

// At the limit, synchronous work is settled with what is durable and answered.
func TestDrainAtTheLimit(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--drain-timeout", "200ms"}})
	_, key := d.NewUser(10)
	answers := make(chan daemontest.Answer, 1)
	go func() {
		defer close(answers)
		if a, err := d.Do(context.Background(), daemontest.Generate(key, map[string]any{"model": "fake-1",
			"prompt": "a fox [fake:hang]"})); err == nil {
			answers <- a
		}
	}()
	underWay(t, d, key, 1)
	is.Equal(d.Terminate(drainLimit), 0)
	a := <-answers
	is.Equal(a.Status, 500)
	is.Equal(a.Code(), "generationFailed")
	says(t, d.Admin("audit"), "clean")
	says(t, d.Admin("user", "list"), " 10 ") // refunded
}
