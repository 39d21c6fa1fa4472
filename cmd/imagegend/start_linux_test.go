package main_test

import (
	"os/exec"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The disk fails under the first commit of a start: it ends as it would under any other.
func TestDiskThatFailsAtTheStart(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	is.Equal(d.Terminate(drainLimit), 0)
	// What lies behind the first pages of any file cannot be written.
	c := exec.Command("sh", "-c", `ulimit -f 16 && exec "$@"`, "sh",
		daemontest.Build(t), "serve", "--addr", "127.0.0.1:0", "--data-dir", d.DataDir, "--models", "fake")
	wrote, err := c.CombinedOutput()
	is.True(err != nil)
	is.Equal(c.ProcessState.ExitCode(), 74)
	says(t, string(wrote), "the service does not start",
		"the disk failed under a commit; the outcome of the last change is unknown")

	again := daemontest.Start(t, daemontest.Options{DataDir: d.DataDir})
	says(t, again.Admin("audit"), "clean")
}
