package storage_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// machine is a disk whose power can be cut: an ext4 filesystem of its own that drops what it has
// not flushed. Where none can be mounted, only the process dies.
type machine struct {
	t   *testing.T
	dir string
	img string // "": not mounted
}

func boot(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, dir: filepath.Join(t.TempDir(), "disk"), img: filepath.Join(t.TempDir(), "disk.img")}
	m.must(os.Mkdir(m.dir, 0o700))
	m.must(os.WriteFile(m.img, nil, 0o600))
	m.must(os.Truncate(m.img, 128<<20))
	if exec.Command("mkfs.ext4", "-q", "-F", m.img).Run() != nil || m.mount() != nil {
		m.img = ""
		return m
	}
	t.Cleanup(func() { m.must(unix.Unmount(m.dir, unix.MNT_DETACH)) })
	return m
}

// mount has the filesystem flush nothing of its own accord.
func (m *machine) mount() error {
	return exec.Command("mount", "-o", "loop,commit=1000", m.img, m.dir).Run()
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// lose has the disk lack a page that a file shows, as after a write that failed: the kernel keeps it, and
// does not write it again. Beneath is then what was.
func (m *machine) lose(page, was []byte) {
	m.t.Helper()
	if m.img == "" {
		return
	}
	disk, err := os.ReadFile(m.img)
	m.must(err)
	at := bytes.Index(disk, page)
	if at < 0 || bytes.Count(disk, page) > 1 {
		m.t.Fatal("it is not on the disk once")
	}
	f, err := os.OpenFile(m.img, os.O_WRONLY, 0)
	m.must(err)
	_, err = f.WriteAt(was, int64(at))
	m.must(errors.Join(err, f.Close()))
}

// cut cuts the power while db is open in a directory, and starts the machine again. What then lies
// in after is all there is.
func (m *machine) cut(data string, db io.Closer) (after string) {
	m.t.Helper()
	defer db.Close()
	if m.img == "" {
		return snapshot(m.t, data)
	}
	m.switchOff()
	_ = db.Close() // nothing reaches the disk any more, but the files have to be let go
	m.must(unix.Unmount(m.dir, 0))
	m.must(m.mount())
	return data
}

// switchOff has nothing reach the disk from now on.
func (m *machine) switchOff() {
	m.t.Helper()
	if m.img == "" {
		return
	}
	const (
		shutdown   = 0x8004587d // FS_IOC_SHUTDOWN
		noLogFlush = 2
	)
	f, err := os.Open(m.dir)
	m.must(err)
	how := uint32(noLogFlush)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&how)))
	if errno != 0 {
		m.t.Fatal(errno)
	}
	m.must(f.Close())
}

// The last acknowledged write, with nothing flushed after it, is there after a power cut.
func TestAPowerCut(t *testing.T) {
	lone := newRecord(9).ImageKey(stored(newRecord(9), nil))
	for name, c := range map[string]struct{ last, check func(w worker) }{
		"commit": {
			func(w worker) { w.begin(2) },
			func(w worker) {
				r, err := w.Generation(w.t.Context(), newRecord(2).ID)
				w.is.NoErr(err)
				w.is.Equal(r.State, imagegen.StateProcessing)
			},
		},
		"image": {
			func(w worker) { w.is.NoErr(w.PutImage(w.t.Context(), lone, bytes.NewReader(pixels(9)))) },
			func(w worker) {
				f, err := w.OpenImage(w.t.Context(), lone)
				w.is.NoErr(err)
				got, err := io.ReadAll(f)
				w.is.NoErr(errors.Join(err, f.Close()))
				w.is.True(bytes.Equal(got, pixels(9)))
			},
		},
		"removal": {
			func(w worker) { w.is.NoErr(w.RemoveImages(w.t.Context(), newRecord(1).ID, 1)) },
			func(w worker) {
				report, err := w.Audit(w.t.Context())
				w.is.NoErr(err)
				w.is.Equal(len(report.Violations), 1) // the image whose file was removed
			},
		},
		"work that waits with its reference": {
			func(w worker) { w.wait(3, true) },
			func(w worker) {
				f, err := w.Open(w.t.Context(), "reference_3")
				w.is.NoErr(err)
				got, err := io.ReadAll(f)
				w.is.NoErr(errors.Join(err, f.Close()))
				w.is.True(bytes.Equal(got, pixels(3)))
				w.clean()
			},
		},
		"reference": {
			func(w worker) {
				r := newRecord(3)
				r.References = []imagegen.ReferenceFile{{ID: "ref_1"}}
				_, err := w.CreateCharged(w.t.Context(), r, time.Minute)
				w.is.NoErr(err)
				w.is.NoErr(w.Stage(w.t.Context(), "ref_1", bytes.NewReader(pixels(3))))
				w.is.NoErr(w.Keep(w.t.Context(), "ref_1"))
			},
			func(w worker) {
				f, err := w.Open(w.t.Context(), "ref_1")
				w.is.NoErr(err)
				got, err := io.ReadAll(f)
				w.is.NoErr(errors.Join(err, f.Close()))
				w.is.True(bytes.Equal(got, pixels(3)))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := boot(t)
			data := filepath.Join(m.dir, "data")
			db, err := storage.Open(data, nil)
			m.must(err)
			w := work(t, db)
			w.fund(10)
			done := w.finish(w.begin(1), pixels(1))
			c.last(w)

			w = work(t, openDir(t, m.cut(data, db), &storage.Options{MustExist: true}))
			c.check(w)
			got, err := w.Generation(t.Context(), done.ID)
			w.is.NoErr(err)
			w.is.Equal(got, done)
			w.is.NoErr(w.Close()) // before the disk is let go
		})
	}
}

// Writes that a dying process did not flush may show to the next. Once that has been opened
// they are durable: what a caller has seen of them cannot go again.
func TestWhatShowsAtAStartOutlivesAPowerCut(t *testing.T) {
	m := boot(t)
	data := filepath.Join(m.dir, "data")
	w := work(t, openDir(t, data, nil))
	w.fund(10)
	w.Bolt().NoSync = true
	r := w.begin(1)
	w.is.NoErr(w.Close())

	db := openDir(t, data, nil)
	_, err := db.Generation(t.Context(), r.ID)
	w.is.NoErr(err)
	w = work(t, openDir(t, m.cut(data, db), &storage.Options{MustExist: true}))
	got, err := w.Generation(t.Context(), r.ID)
	w.is.NoErr(err)
	w.is.Equal(got, r)
	w.is.NoErr(w.Close()) // before the disk is let go
}

// A migration begins when what shows is durable, as nobody's pages may be reused before.
func TestWhatShowsIsDurableBeforeAMigration(t *testing.T) {
	m := boot(t)
	data := filepath.Join(m.dir, "data")
	w := work(t, openDir(t, data, nil))
	w.fund(10)
	w.Bolt().NoSync = true
	r := w.begin(1)
	w.is.NoErr(w.Close())

	off := errors.New("the power is cut")
	undo := storage.Migrate(func(kv.Tx) error { m.switchOff(); return off })
	_, err := storage.Open(data, nil)
	undo()
	w.is.True(errors.Is(err, off))
	w = work(t, openDir(t, m.cut(data, io.NopCloser(nil)), &storage.Options{MustExist: true}))
	got, err := w.Generation(t.Context(), r.ID)
	w.is.NoErr(err)
	w.is.Equal(got, r)
	w.is.NoErr(w.Close()) // before the disk is let go
}

// A flush fails, the process ends, and another one tells somebody what it finds: then that is so after a
// power cut too, though the kernel has not written it, and does not by a flush.
func TestAFaultAndThenAPowerCut(t *testing.T) {
	m := boot(t)
	data := filepath.Join(m.dir, "data")
	w := work(t, openDir(t, data, nil))
	w.fund(10)
	was := metas(t, data)
	w.SetCommit(func(commit func() error) error { return errors.Join(commit(), syscall.EIO) })
	_, err := w.CreateCharged(t.Context(), newRecord(1), time.Minute)
	w.is.True(errors.Is(err, storage.ErrOutcomeUnknown))
	_, err = w.Generation(t.Context(), newRecord(1).ID)
	w.is.True(errors.Is(err, storage.ErrStopped)) // it tells nobody
	w.is.NoErr(w.Close())
	for i, page := range metas(t, data) {
		if !bytes.Equal(page, was[i]) {
			m.lose(page, was[i])
		}
	}

	w = work(t, openDir(t, data, &storage.Options{MustExist: true}))
	shown, err := w.Generation(t.Context(), newRecord(1).ID)
	w.is.NoErr(err)
	w = work(t, openDir(t, m.cut(data, w.DB), &storage.Options{MustExist: true}))
	got, err := w.Generation(t.Context(), shown.ID)
	w.is.NoErr(err)
	w.is.Equal(got, shown)
	w.clean()
	w.is.NoErr(w.Close()) // before the disk is let go
}

// A restoration is there after a power cut: database, images and reference images.
func TestARestorationOutlivesAPowerCut(t *testing.T) {
	w := work(t, openDir(t, usedDir(t), nil))
	r := newRecord(3)
	r.Async, r.Attempt = true, 0
	r.References = []imagegen.ReferenceFile{{ID: "ref_1", Size: int64(len(pixels(3))),
		SHA256: sha256.Sum256(pixels(3))}}
	w.is.NoErr(w.Stage(t.Context(), "ref_1", bytes.NewReader(pixels(3))))
	w.is.NoErr(w.Keep(t.Context(), "ref_1"))
	r, err := w.CreateCharged(t.Context(), r, time.Minute)
	w.is.NoErr(err)
	var archive bytes.Buffer
	w.is.NoErr(w.Backup(t.Context(), &archive))

	m := boot(t)
	data := filepath.Join(m.dir, "data")
	w.is.NoErr(storage.Restore(t.Context(), &archive, data))
	w = work(t, openDir(t, m.cut(data, io.NopCloser(nil)), &storage.Options{MustExist: true}))
	w.is.Equal(w.clean().Images, 2)
	got, err := w.Generation(t.Context(), r.ID)
	w.is.NoErr(err)
	w.is.Equal(got, r)
	f, err := w.Open(t.Context(), "ref_1")
	w.is.NoErr(err)
	reference, err := io.ReadAll(f)
	w.is.NoErr(errors.Join(err, f.Close()))
	w.is.True(bytes.Equal(reference, pixels(3)))
	w.is.NoErr(w.Close()) // before the disk is let go
}
