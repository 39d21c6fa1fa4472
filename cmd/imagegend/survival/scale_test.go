package survival_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shortForm reports whether nobody has set PROOF_TIMES: the proofs then have their short form.
func shortForm() bool { return os.Getenv("PROOF_TIMES") == "" }

// times is PROOF_TIMES, by which the long form of the proofs multiplies what is done.
func times() int {
	n, err := strconv.Atoi(os.Getenv("PROOF_TIMES"))
	if err != nil {
		return 1
	}
	return max(1, n)
}

// seed is PROOF_SEED, or another at each run.
func seed(t *testing.T) uint64 {
	s, err := strconv.ParseUint(os.Getenv("PROOF_SEED"), 10, 64)
	if err != nil {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("again: PROOF_SEED=%d PROOF_TIMES=%d go test ./cmd/imagegend/survival -count=1 -run '^%s$'", s, times(),
		t.Name())
	return s
}

// report logs a line that proof/run collects: what a proof met.
func report(t *testing.T, proof string, counts map[string]int) {
	t.Helper()
	var fields []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		fields = append(fields, fmt.Sprintf("%s=%d", strings.NewReplacer(" ", "_", ",", "").Replace(kind),
			counts[kind]))
	}
	t.Logf("proof %s: %s", proof, strings.Join(fields, " "))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
