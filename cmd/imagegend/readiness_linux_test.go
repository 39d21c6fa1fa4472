package main_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// readiness is what the admin socket tells who watches the service.
type readiness struct {
	Ready             bool
	Reasons, Warnings []string
}

// watched asks the admin socket.
func watched(t *testing.T, d *daemontest.Daemon) (r readiness, status int) {
	t.Helper()
	body, status := d.FromSocket("/readyz")
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	return r, status
}

// A disk that fills up is warned of, then no work is taken, with the reason; the log tells of each change once.
func TestReadinessOfTheDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size=160m"); err != nil {
		t.Skipf("no small disk can be made: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{DataDir: dir})
	tells := func(status int, want readiness) {
		t.Helper()
		until(t, "the disk is looked at", func() bool {
			got, answered := watched(t, d)
			return answered == status && cmp.Equal(want, got)
		})
		is.Equal(d.Call(daemontest.Request{Path: "/readyz"}).Status, status)
	}
	filler := filepath.Join(dir, "filler")
	for range 2 {
		tells(http.StatusOK, readiness{true, []string{}, []string{"disk"}})
		is.NoErr(os.WriteFile(filler, bytes.Repeat([]byte{1}, 100<<20), 0o600))
		tells(http.StatusServiceUnavailable, readiness{false, []string{"disk"}, []string{"disk"}})
		is.NoErr(os.Remove(filler))
	}
	tells(http.StatusOK, readiness{true, []string{}, []string{"disk"}})
	is.Equal(strings.Count(d.Output(), `"readiness: not ready: disk, warning: disk"`), 2)
	is.Equal(strings.Count(d.Output(), `"readiness: warning: disk"`), 3)
	says(t, d.Output(), "MiB free; below 64 MiB no new work is taken; make room")
}
