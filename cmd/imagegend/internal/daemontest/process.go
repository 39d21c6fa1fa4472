package daemontest

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/imagegend/imagegend/imagegen/storage"
)

// RSS returns the most memory that the process has had resident so far, in bytes. It reads /proc, so it needs Linux.
func (d *Daemon) RSS() int {
	d.tb.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.Pid))
	if err != nil {
		d.tb.Fatal(err)
	}
	m := peak.FindSubmatch(status)
	if m == nil {
		d.tb.Fatalf("there is no VmHWM in /proc/%d/status", d.Pid)
	}
	kilobytes, err := strconv.Atoi(string(m[1]))
	if err != nil {
		d.tb.Fatal(err)
	}
	return kilobytes << 10
}

// peak finds the high-water mark of the resident memory.
var peak = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// OpenFiles returns how many descriptors the process has open. It reads /proc, so it needs Linux.
func (d *Daemon) OpenFiles() int {
	d.tb.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", d.Pid))
	if err != nil {
		d.tb.Fatal(err)
	}
	return len(files)
}

// NeedDisk fails the test unless so many bytes are free on the disk of a directory.
func NeedDisk(tb testing.TB, dir string, bytes int64) {
	tb.Helper()
	space, err := storage.SpaceOf(dir, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if space.Free < bytes {
		tb.Fatalf("the test needs %d GB in %s, where %d MB are free; set TMPDIR to a larger disk", bytes>>30, dir,
			space.Free>>20)
	}
}
