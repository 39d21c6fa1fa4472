package simulation_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"testing/cryptotest"

	"github.com/imagegend/imagegend/proof/internal/figures"
)

// leastProgress is the share of all orders that end well: though a fifth to three fifths of the
// provider's calls are not good, up to 2 % of the storage's fail, and some users have run out of credits.
const leastProgress = 0.5

// leastSponsored is the share of all orders that a sponsor pays: two users of five are members.
const leastSponsored = 0.2

func TestSimulation(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one course for one seed
	var met figures.Figures
	failed := 0
	runs := figures.Runs(seeds)
	for n := range runs {
		seed := figures.Seed() + uint64(n)
		ok := t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			cryptotest.SetGlobalRandom(t, seed)
			synctest.Test(t, func(t *testing.T) { newWorld(t, seed, &met).run() })
		})
		met.Add("seeds", 1)
		if !ok {
			t.Logf("again: PROOF_SEED=%d PROOF_RUNS=1 go test ./proof/simulation -run TestSimulation -count=1", seed)
			failed++
		}
		if failed == 3 {
			t.Fatal("three seeds have failed; no further ones are run")
		}
	}
	met.Require(t, 0.05, "succeeded", "partial", "failed", "refused", "replayed", "unavailable")
	if well, all := met.Get("succeeded")+met.Get("partial"), met.Get("orders"); runs >= seeds &&
		float64(well) < leastProgress*float64(all) {
		t.Errorf("only %d of %d orders ended well", well, all)
	}
	if paid, all := met.Get("paid by a sponsor"), met.Get("orders"); runs >= seeds &&
		float64(paid) < leastSponsored*float64(all) {
		t.Errorf("only %d of %d orders were paid by a sponsor", paid, all)
	}
	met.Report(t, "simulation")
}
