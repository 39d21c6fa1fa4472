package main_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// Metrics and health are on an address of their own and on the admin socket, and nowhere else.
func TestOpsAddress(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--ops-addr", ":0"}})
	is.True(strings.HasPrefix(d.OpsURL(), "http://127.0.0.1:")) // loopback, unless an address is configured
	for _, ask := range []func(string) (string, int){d.FromOps, d.FromSocket} {
		body, status := ask("/healthz")
		is.Equal(status, http.StatusOK)
		is.Equal(body, `{"status":"ok"}`+"\n")
		body, status = ask("/readyz")
		is.Equal(status, http.StatusOK)
		is.True(strings.HasPrefix(body, `{"ready":true,"reasons":[],"warnings":[`))
	}
	_, key := d.NewUser(10)
	is.Equal(d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "size": "64x64"})).
		Status, http.StatusOK)
	for _, ask := range []func(string) (string, int){d.FromOps, d.FromSocket} {
		for _, want := range []string{`imagegend_generations_ended_total{class="ok",model="fake-1"} 1`,
			`imagegend_http_requests_total{method="POST",route="/api/v1/images/generations",status="200"} 1`,
			`imagegend_build_info{`, "imagegend_ready 1", "process_resident_memory_bytes", "go_goroutines"} {
			until(t, want, func() bool {
				body, status := ask("/metrics")
				return status == http.StatusOK && strings.Contains(body, want)
			})
		}
	}
	_, status := d.FromOps("/api/v1/models")
	is.Equal(status, http.StatusNotFound)
	_, status = d.FromOps("/users")
	is.Equal(status, http.StatusNotFound) // calls of the socket are not on this address
	is.Equal(d.Call(daemontest.Request{Path: "/metrics"}).Status, http.StatusNotFound)
	is.True(!strings.Contains(string(d.Call(daemontest.Request{Path: "/readyz"}).Body), "reasons"))

	without := daemontest.Start(t, daemontest.Options{})
	is.True(!strings.Contains(without.Output(), `"ops"`))
}

func TestOpsAddressThatIsTaken(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer l.Close()
	d := daemontest.Launch(t, daemontest.Options{Args: []string{"--ops-addr", l.Addr().String()}})
	is.Equal(d.Wait(time.Minute), 1)
	says(t, d.Output(), l.Addr().String(), "in use", "--ops-addr")
}

// Idle connections neither take all places nor keep them.
func TestOpsConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--ops-addr", "127.0.0.1:0", "--ops-admin"}})
	dial := func() net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(d.OpsURL(), "http://"))
		is.NoErr(err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	files := d.OpenFiles()
	for range 200 { // silent ones
		dial()
	}
	until(t, "the connections are taken", func() bool { return d.OpenFiles() > files })
	body, status := d.FromOps("/healthz")
	is.Equal(status, http.StatusOK)
	is.Equal(body, `{"status":"ok"}`+"\n")
	is.True(d.OpenFiles() < files+100)

	var slow []net.Conn
	for range 40 { // more than there are places; each sends a part of a request
		for _, part := range []string{"GET /healthz HTTP/1.1\r\nHost: x\r\n",
			"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
			"POST /admin/v1/grant HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"} {
			c := dial()
			_, err := fmt.Fprint(c, part)
			is.NoErr(err)
			slow = append(slow, c)
		}
	}
	for _, c := range slow {
		is.NoErr(c.SetReadDeadline(time.Now().Add(2 * time.Minute)))
		_, err := io.ReadAll(c) // until the server gives up
		is.True(!errors.Is(err, os.ErrDeadlineExceeded))
	}
	_, status = d.FromOps("/healthz")
	is.Equal(status, http.StatusOK)
}

// A caller that takes no answers loses its connection.
func TestOpsAnswersThatNobodyTakes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--ops-addr", "127.0.0.1:0", "--ops-admin"}})
	c, err := net.Dial("tcp", strings.TrimPrefix(d.OpsURL(), "http://"))
	is.NoErr(err)
	defer c.Close()
	is.NoErr(c.SetWriteDeadline(time.Now().Add(time.Minute)))
	ask := strings.Repeat("POST /admin/v1/users HTTP/1.1\r\nHost: x\r\n\r\n", 1000)
	for err == nil { // until the server has given up
		_, err = io.WriteString(c, ask)
	}
	is.True(!errors.Is(err, os.ErrDeadlineExceeded))
}

// An answer that comes before its body is there, also to a caller that waits for leave to send it.
func TestOpsAnswersBeforeTheBody(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--ops-addr", "127.0.0.1:0", "--ops-admin"}})
	for ask, status := range map[string]int{
		"POST /admin/v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n": 401,
		"POST /admin/v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{":                        401,
		"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{":                                200,
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(d.OpsURL(), "http://"))
		is.NoErr(err)
		_, err = io.WriteString(c, ask)
		is.NoErr(err)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		is.NoErr(err)
		is.Equal(answer.StatusCode, status)
		is.NoErr(c.Close())
	}
}
