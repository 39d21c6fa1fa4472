package disk_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/imagegend/imagegend/proof/internal/figures"
)

const (
	cutsOfTape  = 10
	askedOfTape = 25 // by each client
)

// After any power cut, what clients were answered before is so.
func TestPowerCuts(t *testing.T) {
	p := newPlace(t, "that what was acknowledged survives a power cut between any two writes",
		"/dev/fuse", "/dev/loop-control", "losetup", "mkfs.ext4")
	var f figures.Figures
	left, seed := figures.Runs(20), figures.Seed()
	for ; left > 0 && !t.Failed(); seed++ {
		// The journal may promise more than the data that it speaks of.
		options := [...]string{"data=ordered", "data=writeback"}[seed%2]
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			b := &bench{place: p.in(t), seed: seed, options: options, figures: &f}
			b.cut(b.record(), 0, min(cutsOfTape, left))
			if t.Failed() {
				t.Logf("again: PROOF_SEED=%d PROOF_RUNS=%d go test ./proof/disk -run TestPowerCuts -count=1", seed,
					cutsOfTape)
			}
		})
		left -= cutsOfTape
	}
	requireOutcomes(t, &f)
	f.Report(t, "power-cuts")
}

// bench makes one tape and cuts the power at moments of it.
type bench struct {
	*place
	seed    uint64
	options string // of the ext4
	figures *figures.Figures
}

func (b *bench) path(name string) string {
	return b.place.path(fmt.Sprintf("seed-%d-%s", b.seed, name))
}

func (b *bench) mkdir(name string) string {
	b.must(os.Mkdir(b.path(name), 0o700))
	return b.path(name)
}

// record has clients work on a disk that is on tape.
func (b *bench) record() []entry {
	return b.tape(failure{}, func(data, tape string) {
		_, err := b.load(data, tape, b.seed)
		b.must(err)
	})
}

// load has clients work in a directory, and returns how their service ended.
func (b *bench) load(data, tape string, seed uint64) (status int, err error) {
	load, err := spawn("load", data, tape, strconv.FormatUint(seed, 10), strconv.Itoa(askedOfTape))
	b.must(err)
	return load.wait()
}

// tape mounts a disk that is on tape, and may fail once, has something done in a directory there, and
// returns what is on the tape.
func (b *bench) tape(fails failure, do func(data, tape string)) []entry {
	b.must(format(b.path("image")))
	served, mounted, tape := b.mkdir("served"), b.mkdir("mounted"), b.path("tape")
	server, err := serve("device", append([]string{served, b.path("image"), tape}, fails.args()...)...)
	b.must(err)
	defer server.dismiss()
	b.must(attach(filepath.Join(served, deviceName), mounted, true, b.options))
	do(filepath.Join(mounted, "data"), tape)
	b.must(detach(mounted))
	b.must(unix.Unmount(served, 0))
	entries, err := readTape(tape)
	b.must(errors.Join(err, os.Remove(tape)))
	logRecords, err := listen(entries)
	b.must(err)
	logRecords.outcomes(b.figures)
	for _, e := range entries {
		b.figures.Add([...]string{"writes", "flushes", "words", "faults"}[e.kind], 1)
	}
	return entries
}

// cut is a moment at which the power is cut, and what the disk still did: each piece of what it had
// not flushed is on it with this chance.
type cut struct {
	at    int // how many entries of the tape came before
	kept  float64
	piece int // bytes that the disk writes whole
}

// cuts are moments of a tape from one on: of ten, one while a service opens what is there, five when a client has
// just asked or answered something, and four at any time.
func cuts(tape []entry, from, n int, random *rand.Rand) []cut {
	var logRecords []int
	for i, e := range tape {
		if e.kind == said && i >= from {
			logRecords = append(logRecords, i+1)
		}
	}
	begin, end := firstOpening(tape, from)
	all := make([]cut, n)
	for i := range all {
		var at int
		switch {
		case i%10 == 0:
			at = begin + random.IntN(end-begin+1)
		case i%2 == 0 || len(logRecords) == 0:
			at = from + random.IntN(len(tape)-from+1)
		default:
			at = logRecords[random.IntN(len(logRecords))]
		}
		all[i] = cut{at, float64(random.IntN(5)) / 4, [...]int{4096, 512}[random.IntN(2)]}
	}
	slices.SortFunc(all, func(a, b cut) int { return cmp.Compare(a.at, b.at) })
	return all
}

// firstOpening is where on a tape, from a moment on, a service opens what is there: between the logRecord before
// and the one that says so. If none does, it is all that follows.
func firstOpening(tape []entry, from int) (begin, end int) {
	begin = from
	for i, e := range tape[from:] {
		if e.kind != said {
			continue
		}
		if w, err := e.logRecord(); err == nil && w.What == opening {
			return begin, from + i
		}
		begin = from + i + 1
	}
	return from, len(tape)
}

// cut makes disks of a tape, as cuts from a moment on leave them, and has a service start from each.
func (b *bench) cut(tape []entry, from, n int) {
	random := rand.New(rand.NewPCG(b.seed, 0))
	durable, err := os.ReadFile(b.path("image"))
	b.must(err)
	p := durableImage{durable: durable}
	mounted := b.mkdir("left")
	for _, c := range cuts(tape, from, n, random) {
		b.must(os.WriteFile(b.path("disk"), p.after(tape, c, random), 0o600))
		b.restart(c, tape[:c.at], mounted)
		b.must(os.Remove(b.path("disk")))
	}
	b.must(os.Remove(b.path("image")))
}

// restart has a service start from a disk. One that has lost a write of the filesystem's own may be none any
// more, which is for a backup.
func (b *bench) restart(c cut, tape []entry, mounted string) {
	err := attach(b.path("disk"), mounted, false, b.options)
	lost := slices.ContainsFunc(tape, func(e entry) bool { return e.kind == broken })
	if lost && (errors.Is(err, unix.EBADMSG) || errors.Is(err, unix.EUCLEAN)) {
		b.figures.Add("no_filesystem", 1)
		return
	}
	b.must(err)
	b.judge(c, tape, filepath.Join(mounted, "data"))
	b.must(detach(mounted))
}

func (b *bench) judge(c cut, tape []entry, data string) {
	logRecords, err := listen(tape)
	b.must(err)
	b.figures.Add(fmt.Sprintf("pieces_of_%d", c.piece), 1)
	if err := logRecords.judge(b.figures, data); err != nil {
		b.t.Errorf("cut behind entry %d of the tape, %.0f %% of the pieces of %d bytes kept that were not flushed:\n%s",
			c.at, 100*c.kept, c.piece, shortened(err))
	}
}

// durableImage is what is on a disk for good, as a tape proceeds.
type durableImage struct {
	durable []byte
	flushed int // entries of the tape that are
}

// after makes the disk that a cut leaves. Cuts come in their order.
func (p *durableImage) after(tape []entry, c cut, random *rand.Rand) []byte {
	last := p.flushed
	for i := p.flushed; i < c.at; i++ {
		if tape[i].kind == flushed {
			last = i
		}
	}
	for _, e := range tape[p.flushed:last] {
		if e.kind == written {
			copy(p.durable[e.offset:], e.data)
		}
	}
	p.flushed = last
	disk := slices.Clone(p.durable)
	for _, e := range tape[last:c.at] {
		if e.kind == written {
			e.tear(disk, c, random)
		}
	}
	return disk
}

// tear writes some of the pieces of an entry. The superblock is always whole: a torn one is none
// that a filesystem starts from.
func (e entry) tear(disk []byte, c cut, random *rand.Rand) {
	const block = 4096
	for from := 0; from < len(e.data); {
		piece := c.piece
		if e.offset+int64(from) < block {
			piece = block
		}
		to := min(from+piece, len(e.data))
		if random.Float64() < c.kept {
			copy(disk[e.offset+int64(from):], e.data[from:to])
		}
		from = to
	}
}
