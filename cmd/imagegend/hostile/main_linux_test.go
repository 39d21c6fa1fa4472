package hostile_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

func TestMain(m *testing.M) { os.Exit(daemontest.Main(m)) }

// times is how many times the usual work is wanted.
func times() int {
	n, _ := strconv.Atoi(os.Getenv("PROOF_TIMES")) // unset: 0
	return max(n, 1)
}
