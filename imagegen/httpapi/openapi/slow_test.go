package openapi_test

import (
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
)

// oneConnection is a listener with one connection, which stays in the process.
type oneConnection chan net.Conn

func (l oneConnection) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l oneConnection) Close() error   { close(l); return nil }
func (l oneConnection) Addr() net.Addr { return &net.TCPAddr{} }

// Nobody needs a key here, so nobody may hold a connection for ever.
func TestSlowPeers(t *testing.T) {
	for name, request := range map[string]string{
		"answer not read":            "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n",
		"page not read":              "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n",
		"script not read":            "GET /docs/rapidoc-min.js HTTP/1.1\r\nHost: x\r\n\r\n",
		"body that does not come":    "GET /openapi.json HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
		"the same, and no gzip":      "GET /docs/rapidoc-min.js HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
		"the same, and no method":    "POST /docs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
		"the same, and only headers": "HEAD /docs/rapidoc-min.js HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				near, far := net.Pipe()
				l := make(oneConnection, 1)
				l <- far
				closed := make(chan time.Time, 1)
				server := &http.Server{Handler: openapi.Handler(""), ConnState: func(_ net.Conn, s http.ConnState) {
					if s == http.StateClosed {
						closed <- time.Now()
					}
				}}
				go server.Serve(l)
				began := time.Now()
				_, err := io.WriteString(near, request)
				is.NoErr(err)
				select {
				case at := <-closed:
					is.True(at.Sub(began) < 3*time.Minute)
				case <-time.After(time.Hour):
					t.Error("the connection is still held after an hour")
				}
				near.Close()
				server.Close()
			})
		})
	}
}
