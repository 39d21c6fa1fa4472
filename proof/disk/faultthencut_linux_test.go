package disk_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/imagegend/imagegend/proof/internal/figures"
)

// A write or a flush of the disk fails, once. The kernel may show from then on what is not on the disk. The
// process ends if that concerned a commit; another one goes on, on the same mount, and then the power is cut:
// what the clients of either were answered is so.
func TestFaultThenPowerCut(t *testing.T) {
	p := newPlace(t, "that what was acknowledged survives a fault of the disk and then a power cut",
		"/dev/fuse", "/dev/loop-control", "losetup", "mkfs.ext4")
	const cutsOfEach = 5
	var f figures.Figures
	left, seed := figures.Runs(10), figures.Seed()
	for ; left > 0 && !t.Failed(); seed++ {
		options := [...]string{"data=ordered", "data=writeback"}[seed/2%2]
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			b := &bench{place: p.in(t), seed: seed, options: options, figures: &f}
			tape, at := b.recordFault()
			b.cut(tape, at, min(cutsOfEach, left))
			if t.Failed() {
				t.Logf("again: PROOF_SEED=%d PROOF_RUNS=%d go test ./proof/disk -run TestFaultThenPowerCut -count=1",
					seed, cutsOfEach)
			}
		})
		left -= cutsOfEach
	}
	f.Report(t, "fault-then-power-cut")
	if f.Get("faults") == 0 {
		t.Error("no operation failed")
	}
}

// recordFault has two processes work one after the other on a disk that fails once, and tells where on
// the tape that was.
func (b *bench) recordFault() (tape []entry, at int) {
	random := rand.New(rand.NewPCG(b.seed, 1))
	fails := failure{written, 300 + random.IntN(600)}
	if b.seed%2 == 0 {
		fails = failure{flushed, 100 + random.IntN(300)}
	}
	tape = b.tape(fails, func(data, path string) {
		for _, seed := range []uint64{b.seed, b.seed + 1<<32} {
			status, err := b.load(data, path, seed)
			if status != 0 && status != statusDisk && status != statusError {
				b.must(err)
			}
			b.figures.Add(fmt.Sprintf("ended_with_%d", status), 1)
		}
	})
	at = slices.IndexFunc(tape, func(e entry) bool { return e.kind == broken })
	return tape, max(at, 0)
}
