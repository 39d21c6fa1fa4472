//go:build unix

package main_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// Connections that say nothing, or never end what they say, take no descriptor that work under way needs.
func TestConnectionsLeaveFilesForTheWork(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Files: 128, Args: []string{"--concurrency", "4"}})
	_, key := d.NewUser(100)
	work := func(prompt string) daemontest.Request {
		return daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": prompt, "size": "64x64", "n": 4})
	}
	answers := make(chan daemontest.Answer, 4)
	for range cap(answers) {
		go func() {
			a, err := d.Do(context.Background(), work("a fox [fake:delay=2s]"))
			if err != nil {
				a.Body = []byte(err.Error())
			}
			answers <- a
		}()
	}
	underWay(t, d, key, cap(answers))
	for i := range 300 {
		c, err := net.Dial("tcp", strings.TrimPrefix(d.URL, "http://"))
		if err != nil {
			break // the backlog is full
		}
		defer c.Close()
		fmt.Fprint(c, []string{"", "GET /readyz HTTP/1.1\r\nHost: x\r\n",
			"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"}[i%3])
	}
	for range cap(answers) {
		a := <-answers
		is.Equal(string(a.Body[:min(len(a.Body), 1)]), "{") // answered
		is.Equal(a.Status, 200)
	}
	is.Equal(d.Call(work("another fox")).Status, 200) // who speaks comes in
	is.True(d.OpenFiles() < 128-8)
	says(t, d.Admin("audit"), "clean")
}

// Behind a trusted proxy one client takes no more than its share of requests at once, whatever the
// others do.
func TestOneClientBehindAProxy(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Files: 160, Args: []string{"--concurrency", "4", "--trusted-proxy",
		"127.0.0.1", "--slot-wait", "1m"}})
	_, key := d.NewUser(100)
	_, other := d.NewUser(100)
	hang := daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox [fake:hang]", "size": "64x64"})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	full := make(chan daemontest.Answer, 16)
	for range 16 {
		go func() {
			if a, err := d.Do(ctx, hang.With("X-Forwarded-For", "203.0.113.9")); err == nil {
				full <- a
			}
		}()
	}
	a := <-full
	is.Equal(a.Status, 503)
	is.Equal(a.Code(), "overloaded")
	is.Equal(a.Header.Get("Retry-After"), "1")
	is.True(a.Header.Get("X-Request-Id") != "")
	read := daemontest.Request{Path: "/api/v1/credits", Key: other}
	is.Equal(d.Call(read.With("X-Forwarded-For", "203.0.113.10")).Status, 200)
	is.Equal(d.Call(read).Status, 200) // the proxy itself
}
