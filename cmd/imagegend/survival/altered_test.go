package survival_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// lease is that of the daemon which altered builds; the one that people run has 30 s.
const lease = 3 * time.Second

// altered builds a daemon whose leases are short, so that a fault can outlast them, and whose wall clock a test can
// have go wrong: time.Now adds what the file says that WALL_CLOCK_OFF names, for the daemon and for every library in
// it.
func altered(t *testing.T) (program string) {
	t.Helper()
	program, err := buildAltered()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

var buildAltered = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "time", "github.com/imagegend/imagegend/imagegen/engine").
		Output()
	if err != nil {
		return "", err
	}
	dirs := strings.Fields(string(out))
	clock, engine := dirs[0], dirs[1]
	files := map[string]string{filepath.Join(clock, "wall_off.go"): wallOff}
	for path, change := range map[string][2]string{
		filepath.Join(clock, "time.go"): {"func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n",
			"func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n\tsec += wallOff.Load()\n"},
		filepath.Join(engine, "config.go"): {"cmp.Or(a.Lease, 30*time.Second)", fmt.Sprintf("cmp.Or(a.Lease, %d)",
			lease)},
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if strings.Count(string(text), change[0]) != 1 {
			return "", fmt.Errorf("%s is another than this test knows: it wants %q there once", path, change[0])
		}
		files[path] = strings.Replace(string(text), change[0], change[1], 1)
	}
	return daemontest.BuildAltered(files)
})

const wallOff = `package time

import (
	"sync/atomic"
	"syscall"
)

// wallOff is by how many seconds the wall clock of this process is off.
var wallOff atomic.Int64

func init() {
	file, given := syscall.Getenv("WALL_CLOCK_OFF")
	if !given {
		return
	}
	wallOff.Store(readWallOff(file))
	go func() {
		for {
			Sleep(50 * Millisecond)
			wallOff.Store(readWallOff(file))
		}
	}()
}

// readWallOff reads a number of seconds; what cannot be read changes nothing.
func readWallOff(file string) (seconds int64) {
	f, err := syscall.Open(file, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return wallOff.Load()
	}
	defer syscall.Close(f)
	text := make([]byte, 20)
	n, err := syscall.Read(f, text)
	if err != nil || n == 0 {
		return wallOff.Load()
	}
	sign := int64(1)
	for _, c := range text[:n] {
		if c == '-' {
			sign = -1
		} else {
			seconds = 10*seconds + int64(c-'0')
		}
	}
	return sign * seconds
}
`

// wallClock is how far a daemon's wall clock is off.
type wallClock struct{ file string }

func newWallClock(t *testing.T) wallClock {
	c := wallClock{filepath.Join(t.TempDir(), "clock")}
	c.set(t, 0)
	return c
}

// variable names it to a daemon.
func (c wallClock) variable() string { return "WALL_CLOCK_OFF=" + c.file }

func (c wallClock) set(t *testing.T, off time.Duration) {
	t.Helper()
	err := os.WriteFile(c.file+".new", fmt.Appendf(nil, "%d", off/time.Second), 0o600)
	if err == nil {
		err = os.Rename(c.file+".new", c.file)
	}
	if err != nil {
		t.Error(err)
	}
}
