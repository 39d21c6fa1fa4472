package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// Three nodes answer by turns with the same credits, and nothing is left of them.
func TestNodes(t *testing.T) {
	if os.Getenv("IMAGEGEN_TEST_POSTGRES") == "" {
		t.Skip("NOT RUN: IMAGEGEN_TEST_POSTGRES=1, or .ci/run postgres, asks for the tests on PostgreSQL")
	}
	is, temp := is.New(t), t.TempDir()
	is.NoErr(os.Chmod(filepath.Dir(temp), 0o711)) // the user postgres passes through
	is.NoErr(os.Chmod(temp, 0o711))
	t.Setenv("TMPDIR", temp)
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
	var parts []string
	for lines := bufio.NewScanner(out); parts == nil; {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		parts = regexp.MustCompile(`^curl (\S+) -H 'Authorization: (Bearer \S+)' --json '(.+)'$`).
			FindStringSubmatch(lines.Text())
	}
	for range 2 * nodes {
		request, err := http.NewRequestWithContext(t.Context(), "POST", parts[1], strings.NewReader(parts[3]))
		is.NoErr(err)
		request.Header.Set("Authorization", parts[2])
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		is.NoErr(err)
		said, err := io.ReadAll(response.Body)
		is.NoErr(err)
		is.NoErr(response.Body.Close())
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", response.Status, said)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	end()
	is.NoErr(<-ended)
	left, err := filepath.Glob(filepath.Join(temp, "imagegend-nodes-*"))
	is.NoErr(err)
	is.Equal(left, nil)
}
