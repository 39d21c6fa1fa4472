package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The first start says how to make a user and a key, and what the provider is.
func TestBanner(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--log-format", "text"}})
	banner := d.Output()
	says(t, banner, "imagegend ", d.URL, d.DataDir, "admin.sock", "fake-1 by fake (credits 1K 1, 2K 2, 4K 4)",
		"WARNING", "ready in ", "imagegend user create alice --credits 1000 --data-dir "+d.DataDir,
		"imagegend key create --user alice")
	is.True(strings.Count(banner, "\n") <= 12)
}

func TestReadyRecord(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	var ready map[string]any
	for line := range strings.Lines(d.Output()) {
		var record map[string]any
		is.NoErr(json.Unmarshal([]byte(line), &record)) // every line is one record
		if record["msg"] == "ready" {
			ready = record
		}
	}
	is.Equal(ready["listen"], d.URL)
	is.Equal(ready["data_dir"], d.DataDir)
}

func TestLockedWithoutSocket(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	is.NoErr(os.Remove(filepath.Join(d.DataDir, "admin.sock")))
	_, stderr, status := d.Command("user", "list")
	is.Equal(status, 1)
	says(t, stderr, d.DataDir, "in use by another process", "admin.sock")

	second := daemontest.Launch(t, daemontest.Options{DataDir: d.DataDir})
	is.Equal(second.Wait(drainLimit), 1)
	says(t, second.Output(), "in use by another process", "--data-dir")
}

func TestAddressInUse(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	dir := filepath.Join(t.TempDir(), "data")
	second := daemontest.Launch(t, daemontest.Options{DataDir: dir, Args: []string{"--addr", strings.TrimPrefix(d.URL,
		"http://")}})
	is.Equal(second.Wait(drainLimit), 1)
	says(t, second.Output(), "in use", "--addr")
	_, err := os.Stat(dir)
	is.True(os.IsNotExist(err)) // nothing was made
}

// A script starts the server and goes on at once.
func TestCommandRightAfterStart(t *testing.T) {
	is := is.New(t)
	d := daemontest.Launch(t, daemontest.Options{DataDir: filepath.Join(t.TempDir(), "data")})
	says(t, d.Admin("user", "create", "alice"), "created user alice")
	says(t, d.Admin("user", "list"), "alice")
	until(t, "ready", func() bool { return strings.Contains(d.Output(), `"ready"`) })
	is.Equal(d.Terminate(drainLimit), 0)
}
