//go:build unix

package main_test

import (
	"bufio"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The reader of the log goes away, as in imagegend serve 2>&1 | head: the daemon serves on, and drains.
func TestNobodyReadsTheLog(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := exec.Command(daemontest.Build(t), "serve", "--addr", "127.0.0.1:0", "--data-dir", t.TempDir(), "--models",
		"fake", "--log-format", "text")
	log, err := c.StderrPipe()
	is.NoErr(err)
	is.NoErr(c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	var url string
	lines := bufio.NewScanner(log)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "ready in ") {
		if name, address, _ := strings.Cut(strings.TrimSpace(lines.Text()), " "); name == "listening" {
			url = strings.TrimSpace(address)
		}
	}
	is.NoErr(log.Close())

	r, err := http.Get(url + "/readyz")
	is.NoErr(err)
	r.Body.Close()
	is.Equal(r.StatusCode, http.StatusOK)
	is.NoErr(c.Process.Signal(syscall.SIGTERM)) // which it logs
	is.NoErr(c.Wait())
}
