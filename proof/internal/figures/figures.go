// Package figures says how much a proof runs and reports what it met.
//
// Three variables of the environment govern every proof: PROOF_TIMES multiplies the number of runs,
// and PROOF_SEED is the first seed. proof/run sets both for the long form. PROOF_RUNS is the number
// itself, so that PROOF_RUNS=1 looks at one seed alone. Without PROOF_TIMES a proof has its short
// form, a fifth of the runs, which everybody can wait for; .ci/run sets it to 1. In the short form,
// and with PROOF_RUNS, no share of outcomes is asserted.
package figures

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Short reports whether proofs have their short form.
func Short() bool { return os.Getenv("PROOF_TIMES") == "" }

// Stride is how far apart the steps are that a proof of every step tries: 1, or 5 in the short form.
func Stride() int {
	if Short() {
		return 5
	}
	return 1
}

// Runs is how often a proof runs: n times PROOF_TIMES, or PROOF_RUNS.
func Runs(n int) int {
	times := int(max(1, number("PROOF_TIMES", 1)))
	return int(number("PROOF_RUNS", int64(max(1, n*times/Stride()))))
}

// Seed is the first seed of a proof: PROOF_SEED, or 1. The others follow it.
func Seed() uint64 { return uint64(number("PROOF_SEED", 1)) }

func number(name string, unset int64) int64 {
	s := os.Getenv(name)
	if s == "" {
		return unset
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%s=%q is not a number", name, s))
	}
	return n
}

// Figures counts what a proof met. The zero value is ready; it is safe for concurrent use.
type Figures struct {
	mu     sync.Mutex
	counts map[string]int
}

// Add counts n more of a kind.
func (f *Figures) Add(kind string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = map[string]int{}
	}
	f.counts[kind] += n
}

// Get is how many of a kind were counted.
func (f *Figures) Get(kind string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[kind]
}

// Require fails the test unless each of the kinds makes at least the given share of all of them: a
// random test that hardly ever meets a kind proves nothing of it.
func (f *Figures) Require(tb testing.TB, share float64, kinds ...string) {
	tb.Helper()
	if os.Getenv("PROOF_RUNS") != "" || Short() {
		return
	}
	all := 0
	for _, kind := range kinds {
		all += f.Get(kind)
	}
	for _, kind := range kinds {
		if n := f.Get(kind); float64(n) < share*float64(all) {
			tb.Errorf("only %d of %d outcomes were %q; at least %.0f %% have to be", n, all, kind, 100*share)
		}
	}
}

// Report logs one line that proof/run collects: "proof model: failed=12 runs=100".
func (f *Figures) Report(tb testing.TB, proof string) {
	tb.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var fields []string
	for _, kind := range slices.SortedFunc(maps.Keys(f.counts), cmp.Compare) {
		fields = append(fields, fmt.Sprintf("%s=%d", kind, f.counts[kind]))
	}
	tb.Logf("proof %s: %s", proof, strings.Join(fields, " "))
}
