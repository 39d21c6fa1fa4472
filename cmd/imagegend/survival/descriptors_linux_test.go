package survival_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// A daemon without descriptors to spare refuses and fails, but charges nobody for nothing, and is
// its old self when the crowd has gone.
func TestOutOfDescriptors(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	d := daemontest.Start(t, daemontest.Options{DataDir: dir})
	_, key := d.NewUser(10_000)
	is.Equal(d.Call(operation{prompt: "warm up", n: 1, references: 1}.request(key)).Status, http.StatusOK)
	daemontest.Eventually(t, 20*time.Second, "the thumbnail is made", func() bool { return thumbnails(t, dir) == 1 })
	leftAlone, open := daemontest.Leftovers(t, dir), d.OpenFiles()

	limit := uint64(open + 12)
	is.NoErr(unix.Prlimit(d.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: 4096}, nil))
	idle := occupy(t, strings.TrimPrefix(d.URL, "http://"), 6)
	met := map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			for i := range 10 * times() {
				outcome := tryOnce(t.Context(), d, key, operation{prompt: fmt.Sprintf("%d of %d", i, n), n: 2,
					references: i % 3, async: i%2 == 0})
				mu.Lock()
				met[outcome]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, c := range idle {
		c.Close()
	}
	is.NoErr(unix.Prlimit(d.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1024, Max: 4096}, nil))

	is.True(met["200"]+met["202"] < 160*times()) // some met the limit, or nothing was tested
	d.AllEnded(t, key, time.Minute)
	is.Equal(d.Call(operation{prompt: "afterwards", n: 1, references: 1}.request(key)).Status, http.StatusOK)
	d.Settled(t, key, 10_000)
	d.Clean(t)
	daemontest.NoLeftovers(t, leftAlone, dir)
	d.HangUp()
	daemontest.Eventually(t, 20*time.Second, "no more descriptors are open than before", func() bool {
		return d.OpenFiles() <= open+2
	})
	report(t, "descriptors", met)
	is.Equal(d.Terminate(20*time.Second), 0)
}

// occupy opens connections that ask for nothing.
func occupy(t *testing.T, address string, n int) (all []net.Conn) {
	t.Helper()
	for range n {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// tryOnce returns the status of the answer, or that there was none in time.
func tryOnce(ctx context.Context, d *daemontest.Daemon, key string, o operation) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	answer, err := d.Do(ctx, o.request(key))
	if err != nil {
		return "none"
	}
	return fmt.Sprint(answer.Status)
}

// thumbnails tells how many there are.
func thumbnails(t *testing.T, dir string) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "images", "*", "*-t"))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
