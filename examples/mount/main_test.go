package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// The program serves the shop and the API until it is ended, and what it prints is a request that it answers.
func TestMount(t *testing.T) {
	is := is.New(t)
	ctx, end := context.WithCancel(t.Context())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	out, printed := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, listener, printed)
		printed.CloseWithError(err)
		ended <- err
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	is.NoErr(err)
	parts := regexp.MustCompile(`^curl (\S+) -H 'Authorization: (Bearer \S+)' --json '(.+)'\n$`).
		FindStringSubmatch(line)
	is.True(parts != nil)

	call := func(method, url, body string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		is.NoErr(err)
		request.Header.Set("Authorization", parts[2])
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		is.NoErr(err)
		is.NoErr(response.Body.Close())
		return response
	}
	defer http.DefaultClient.CloseIdleConnections()
	is.Equal(call("POST", parts[1], parts[3]).StatusCode, http.StatusOK)
	base := "http://" + listener.Addr().String()
	is.True(strings.HasPrefix(call("GET", base+"/api/v1/credits", "").Header.Get("Content-Type"), "application/json"))
	is.True(strings.HasPrefix(call("GET", base+"/", "").Header.Get("Content-Type"), "text/plain"))
	end()
	is.NoErr(<-ended)
}
