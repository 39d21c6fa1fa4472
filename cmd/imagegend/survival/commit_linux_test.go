package survival_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The disk fails under a commit: callers learn that the outcome is unknown, the daemon exits
// with status 74 and does nothing more to its file. The next start knows all that was acknowledged,
// and the same idempotency keys show how the rest ended.
func TestFailedCommit(t *testing.T) {
	t.Parallel()
	for name, writable := range map[string]uint64{"no write works": 0, "a commit is torn": 192 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			o := daemontest.Options{DataDir: t.TempDir(), Args: fixedAddress}
			d := daemontest.Start(t, o)
			_, key := d.NewUser(100_000)

			// What lies behind this offset of any file cannot be written, as on a disk that is broken.
			is.NoErr(unix.Prlimit(d.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: writable, Max: writable}, nil))
			answers, inDoubt := useUntilBroken(t, d, key)
			is.Equal(d.Wait(20*time.Second), 74)
			t.Logf("%d answers, then %d calls in doubt", len(answers), len(inDoubt))

			d = daemontest.Start(t, o)
			for _, a := range answers {
				replayed(t, d, key, a)
			}
			for _, o := range inDoubt {
				answer, err := insist(t.Context(), d, o, key)
				is.NoErr(err)
				is.True(answer.Status == http.StatusOK || answer.Status == http.StatusAccepted ||
					answer.Code() == "generationFailed")
				replayed(t, d, key, answered{o, answer})
			}
			d.AllEnded(t, key, 20*time.Second)
			d.Settled(t, key, 100_000)
			d.Clean(t)
			is.Equal(d.Terminate(10*time.Second), 0)
		})
	}
}

// useUntilBroken has callers make one call after another until one is not answered as usual. At
// least one of them learns that the outcome is unknown.
func useUntilBroken(t *testing.T, d *daemontest.Daemon, key string) (usual []answered, inDoubt []operation) {
	const callers = 8
	answers, broken := make([][]answered, callers), make([]answered, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { answers[i], broken[i] = callUntilBroken(t.Context(), d, key, i) })
	}
	wg.Wait()
	var unknown int
	for _, b := range broken {
		inDoubt = append(inDoubt, b.operation)
		if b.Code() == "internalError" && strings.Contains(string(b.Body), "outcome unknown") {
			unknown++
		}
	}
	if unknown == 0 {
		t.Error("no answer said that the outcome is unknown")
	}
	return slices.Concat(answers...), inDoubt
}

// callUntilBroken returns what was answered, and the call that was not, or not as usual.
func callUntilBroken(ctx context.Context, d *daemontest.Daemon, key string,
	caller int) (answers []answered, broken answered) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for call := 0; ; call++ {
		o := operation{prompt: "a fox", n: 1 + call%2, async: call%3 == 0, key: fmt.Sprintf("%d-%d", caller, call)}
		answer, err := d.Do(ctx, o.request(key))
		if err != nil || answer.Status >= http.StatusInternalServerError {
			return answers, answered{o, answer}
		}
		answers = append(answers, answered{o, answer})
	}
}

// replayed fails the test unless a repeated call is answered as it was.
func replayed(t *testing.T, d *daemontest.Daemon, key string, a answered) {
	t.Helper()
	answer := d.Call(a.request(key))
	if answer.Status != a.Status || string(answer.Body) != string(a.Body) ||
		answer.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s was answered with %d %s\nand is now with %d %s", a.key, a.Status, a.Body, answer.Status,
			answer.Body)
	}
}
