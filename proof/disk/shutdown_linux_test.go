package disk_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/imagegend/imagegend/proof/internal/figures"
)

// A filesystem drops what it has not flushed, at any moment. The service on it ends, and reports no success that
// does not last.
func TestShutdown(t *testing.T) {
	p := newPlace(t, "that what was acknowledged survives when a filesystem drops all that it has not flushed",
		"/dev/loop-control", "losetup", "mkfs.ext4")
	var f figures.Figures
	for i := 0; i < figures.Runs(5) && !t.Failed(); i++ {
		seed := figures.Seed() + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			b := &bench{place: p.in(t), seed: seed, options: "commit=1000", figures: &f}
			b.shutdown()
			if t.Failed() {
				t.Logf("again: PROOF_SEED=%d PROOF_RUNS=1 go test ./proof/disk -run TestShutdown -count=1", seed)
			}
		})
	}
	requireOutcomes(t, &f)
	f.Report(t, "shutdown")
}

func (b *bench) shutdown() {
	image, mounted, tape := b.path("image"), b.mkdir("mounted"), b.path("tape")
	b.must(format(image))
	b.must(attach(image, mounted, false, b.options))
	logRecords := rand.New(rand.NewPCG(b.seed, 0)).IntN(400)
	load, err := spawn("load", filepath.Join(mounted, "data"), tape, strconv.FormatUint(b.seed, 10),
		strconv.Itoa(math.MaxInt32))
	b.must(err)
	b.await(tape, logRecords)
	b.must(shutDown(mounted))
	status, err := load.wait()
	if status != statusDisk && (status != statusError || logRecords > 0) {
		b.t.Errorf("the process ended with %d instead of %d: %v", status, statusDisk, err)
	}
	b.must(detach(mounted))
	b.must(attach(image, mounted, false, b.options))
	entries, err := readTape(tape)
	b.must(err)
	said, err := listen(entries)
	b.must(err)
	said.outcomes(b.figures)
	if err := said.judge(b.figures, filepath.Join(mounted, "data")); err != nil {
		b.t.Errorf("shut down behind %d words:\n%s", logRecords, shortened(err))
	}
	b.must(detach(mounted))
	b.must(os.Remove(image))
}

// await waits until so many logRecords were said.
func (b *bench) await(tape string, logRecords int) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); ; <-tick.C {
		entries, err := readTape(tape)
		if n := len(entries); n >= logRecords && (err == nil || logRecords == 0) {
			return
		}
		if time.Since(began) > time.Minute {
			b.t.Fatalf("only %d of %d words were said within a minute", len(entries), logRecords)
		}
	}
}

// shutDown has a filesystem drop what it has not flushed, and refuse everything from then on.
func shutDown(dir string) error {
	const (
		shutdown   = 0x8004587d // FS_IOC_SHUTDOWN
		noLogFlush = 2
	)
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	how := uint32(noLogFlush)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&how))); errno != 0 {
		return errno
	}
	return nil
}
