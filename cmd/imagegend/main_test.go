package main_test

import (
	"image"
	_ "image/png"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

func TestMain(m *testing.M) { os.Exit(daemontest.Main(m)) }

// drainLimit is how long a daemon without slow work may take to end.
const drainLimit = 20 * time.Second

// until polls for what must become true soon.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	daemontest.Eventually(t, time.Minute, what, holds)
}

// command runs the program in a directory with further variables, and returns what it wrote and
// its exit status.
func command(t *testing.T, dir string, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	c := exec.Command(daemontest.Build(t), args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	return daemontest.Run(t, c)
}

// decode checks that a file holds an image.
func decode(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, _, err := image.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}

var says = daemontest.Says
