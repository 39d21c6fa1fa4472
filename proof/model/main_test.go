package model_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/proof/internal/figures"
)

// runs is how often each model runs by default in each of its set-ups, and steps how many steps a
// run has on average. On PostgreSQL there are fewer, for each operation is a round trip.
const (
	runs, steps                 = 200, 100
	postgresRuns, postgresSteps = 10, 150
)

// TestMain sets what rapid does by default; its flags on the command line win.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"rapid.checks":     strconv.Itoa(figures.Runs(runs)),
		"rapid.steps":      strconv.Itoa(steps),
		"rapid.seed":       strconv.FormatUint(figures.Seed(), 10),
		"rapid.nofailfile": "true",
	} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	before := openFiles()
	code := m.Run()
	if after := openFiles(); after > before && os.Getenv(postgrestest.Asked) == "" { // whose server stays
		fmt.Fprintf(os.Stderr, "%d files were open before, %d are now\n", before, after)
		code = 1
	}
	os.Exit(code)
}

// openFiles counts the file descriptors of this process, where that can be known. Those with which
// the runtime polls count from the start.
func openFiles() int {
	if r, w, err := os.Pipe(); err == nil {
		_, _ = r.Close(), w.Close()
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(open)
}

// prove runs a model in one of its set-ups, and reports what it met. It begins between two microseconds, which is the
// most exactly that a journal tells times.
func prove(t *testing.T, name string, run func(*rapid.T, *figures.Figures)) {
	t.Parallel()
	hold(t, name, 0.05, func(t *rapid.T, met *figures.Figures) {
		time.Sleep(953 * time.Nanosecond)
		run(t, met)
	})
}

// proveOnPostgres has fewer runs, and so asks for a smaller share of each outcome. It is not parallel, for rapid's
// flags hold for all tests. It begins at a whole microsecond: PostgreSQL keeps what it doubts of the clock no more
// exactly.
func proveOnPostgres(t *testing.T, name string, run func(*rapid.T, *figures.Figures)) {
	for flagged, value := range map[string]int{"rapid.checks": figures.Runs(postgresRuns),
		"rapid.steps": postgresSteps} {
		f := flag.Lookup(flagged).Value
		former := f.String()
		defer func() { _ = f.Set(former) }()
		_ = f.Set(strconv.Itoa(value))
	}
	hold(t, name, 0.02, run)
}

// hold runs a model, and wants at least a share of all outcomes to be of each kind.
func hold(t *testing.T, name string, share float64, run func(*rapid.T, *figures.Figures)) {
	var met figures.Figures
	defer func() {
		if t.Failed() {
			t.Logf("again: PROOF_RUNS=1 go test ./proof/model -count=1 -run '^%s$' -rapid.seed=N, with the seed that rapid names above", t.Name())
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		met.Add("runs", 1)
		rapid.SyncTest(t, func(t *rapid.T) { run(t, &met) })
	})
	met.Require(t, share, "succeeded", "partial", "failed", "refused", "replayed", "unavailable")
	met.Report(t, name)
}

// pick draws one of several values, the first ones a little more often.
func pick[T any](t *rapid.T, what string, of ...T) T { return rapid.SampledFrom(of).Draw(t, what) }

// weighted lists an action as often as it is to be likely. rapid sorts actions by name and prefers
// the first ones, so that they are numbered.
func weighted(actions map[string]func(*rapid.T), weight int, name string, do func(*rapid.T)) {
	for range weight {
		actions[fmt.Sprintf("%02d %s", len(actions), name)] = do
	}
}

// scratch makes an empty directory, in memory where that can be: thousands of runs are not to wait
// for a disk that is not what is proven here.
func scratch(t *rapid.T) string {
	base := "/dev/shm"
	probe, err := os.MkdirTemp(base, "imagegen-model-")
	if err != nil {
		if probe, err = os.MkdirTemp("", "imagegen-model-"); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(probe); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(probe, "data")
}
