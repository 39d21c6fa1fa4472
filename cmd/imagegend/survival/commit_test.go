package survival_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The disk fails under a commit: the caller is told that the outcome is unknown, the daemon exits
// with status 74 and does nothing more to its file. The next start tells what came of it.
func TestFailedCommit(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	o := daemontest.Options{DataDir: t.TempDir(), Args: killed.Args}
	d := daemontest.Start(t, o)
	_, key := d.NewUser(100)
	done := d.Call(operation{prompt: "before", n: 2}.request(key))
	is.Equal(done.Status, http.StatusOK)
	var before generation
	done.Into(t, &before)

	// Every write to a file fails from here on, as on a disk that is broken.
	is.NoErr(unix.Prlimit(d.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 0, Max: 0}, nil))
	doubtful := operation{prompt: "in doubt", n: 1, key: "the-same"}
	unknown := d.Call(doubtful.request(key))
	is.Equal(unknown.Status, http.StatusInternalServerError)
	is.Equal(unknown.Code(), "internalError")
	is.True(strings.Contains(string(unknown.Body), "outcome is unknown"))
	is.Equal(d.Wait(10*time.Second), 74)

	d = daemontest.Start(t, o)
	is.Equal(contradiction(before, mustGeneration(t, d, key, before.ID)), "")
	again, err := insist(t.Context(), d, doubtful, key)
	is.NoErr(err)
	is.True(again.Status == http.StatusOK || again.Code() == "generationFailed")
	allEnded(t, d, key, 10*time.Second)
	settled(t, d, key, 100)
	clean(t, d)
	is.Equal(d.Terminate(10*time.Second), 0)
}
