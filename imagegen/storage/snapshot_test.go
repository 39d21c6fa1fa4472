package storage_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// grow has the file of a database outgrow a map of a few MiB, which takes as long as it waits for readers.
func grow(t *testing.T, db *storage.DB) {
	t.Helper()
	grown := make(chan error, 1)
	go func() {
		var errs []error
		for i := range 16 {
			errs = append(errs, db.KV().Update(context.Background(), put(fmt.Sprint("large ", i),
				strings.Repeat("x", 1<<20))))
		}
		grown <- errors.Join(errs...)
	}()
	select {
	case err := <-grown:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("writers wait for a reader")
	}
}

// However little the map can hold, nobody waits for who reads a backup, nor for an audit.
func TestNobodyWaitsForABackupOrAnAudit(t *testing.T) {
	defer storage.ReserveAddresses(0)()
	t.Run("backup", func(t *testing.T) {
		is, db := is.New(t), openDir(t, usedDir(t), nil)
		stuck, read := make(chan struct{}), make(chan struct{})
		var archive bytes.Buffer
		ended := make(chan error, 1)
		first := true
		go func() {
			ended <- db.Backup(context.Background(), writer(func(p []byte) (int, error) {
				if first {
					first = false
					close(stuck)
					<-read
				}
				return archive.Write(p)
			}))
		}()
		<-stuck
		grow(t, db)
		is.Equal(len(filesUnder(t, filepath.Join(filepath.Dir(db.Bolt().Path()), "tmp"))) > 0, true) // what it reads
		close(read)
		is.NoErr(<-ended)
		is.Equal(len(filesUnder(t, filepath.Join(filepath.Dir(db.Bolt().Path()), "tmp"))), 0)
		dir := filepath.Join(t.TempDir(), "restored")
		is.NoErr(storage.Restore(t.Context(), &archive, dir))
		is.Equal(get(t, openDir(t, dir, nil), "large 0"), "") // it is of its beginning
	})
	t.Run("audit", func(t *testing.T) {
		is, db := is.New(t), openDir(t, usedDir(t), nil)
		is.NoErr(db.ViewCopy(t.Context(), func() { grow(t, db) }))
	})
}

// A database that has just been opened can grow while somebody reads it.
func TestNobodyWaitsForAReader(t *testing.T) {
	db := openDir(t, usedDir(t), nil)
	is.New(t).NoErr(db.KV().View(t.Context(), func(kv.Tx) error { grow(t, db); return nil }))
}

// If addresses are rationed, fewer are reserved.
func TestAddressesThatCannotBeHad(t *testing.T) {
	defer storage.ReserveAddresses(1 << 46)() // half of what there is, and twice that for two databases
	for range 4 {
		openDir(t, usedDir(t), nil)
	}
}

// A copy that the disk has no room for is refused, and says what it would take.
func TestNoRoomForACopy(t *testing.T) {
	dir := usedDir(t)
	w := work(t, openDir(t, dir, nil))
	w.SetFree(64<<20 + 1)
	_, audited := w.Audit(t.Context())
	for what, err := range map[string]error{"audit": audited, "backup": w.Backup(t.Context(), io.Discard)} {
		if err == nil || !strings.Contains(err.Error(), "a copy of the database takes 1 MiB") ||
			!strings.Contains(err.Error(), "make room") {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.is.Equal(len(filesUnder(t, filepath.Join(dir, "tmp"))), 0)
	w.begin(3) // work goes on
}

// The next start removes the copy that a killed process left.
func TestACopyThatIsLeft(t *testing.T) {
	is, dir := is.New(t), usedDir(t)
	left := filepath.Join(dir, "tmp", "snapshot-1")
	is.NoErr(os.WriteFile(left, pixels(1), 0o600))
	openDir(t, dir, nil)
	is.True(!exists(left))
}

// freeALivePage has the list of free pages name one that is in use, as it lies on the disk.
func freeALivePage(t *testing.T, bolt *bbolt.DB) {
	t.Helper()
	is, size := is.New(t), int64(bolt.Info().PageSize)
	var list, live uint64
	is.NoErr(bolt.View(func(tx *bbolt.Tx) error {
		for i := range int(tx.Size() / size) {
			switch p, err := tx.Page(i); {
			case err != nil:
				return err
			case p.Type == "freelist":
				list = uint64(i)
			case p.Type == "leaf":
				live = uint64(i)
			}
		}
		return nil
	}))
	file, err := os.OpenFile(bolt.Path(), os.O_RDWR, 0)
	is.NoErr(err)
	header := make([]byte, 16)
	_, err = file.ReadAt(header, int64(list)*size)
	is.NoErr(err)
	free := make([]uint64, binary.NativeEndian.Uint16(header[10:]))
	is.True(len(free) > 0)
	at := io.NewSectionReader(file, int64(list)*size+16, int64(len(free))*8)
	is.NoErr(binary.Read(at, binary.NativeEndian, free))
	free[0] = live
	slices.Sort(free)
	is.NoErr(binary.Write(io.NewOffsetWriter(file, int64(list)*size+16), binary.NativeEndian, free))
	is.NoErr(file.Close())
}

// A page that is in use and free would be overwritten sooner or later. It is found when a small file is
// opened, and by every audit.
func TestALivePageThatIsFree(t *testing.T) {
	t.Run("at opening", func(t *testing.T) {
		is, dir := is.New(t), usedDir(t)
		bolt, err := bbolt.Open(filepath.Join(dir, "imagegen.db"), 0o600, nil)
		is.NoErr(err)
		freeALivePage(t, bolt)
		is.NoErr(bolt.Close())
		refused(t, dir, nil, storage.ErrCorrupt)
	})
	t.Run("audit", func(t *testing.T) {
		is, db := is.New(t), openDir(t, usedDir(t), nil)
		freeALivePage(t, db.Bolt())
		report, err := db.Audit(t.Context())
		is.NoErr(err)
		is.True(!report.Clean())
		is.Equal(report.Violations[0].Rule, "pages")
		is.Equal(report.Charges, 0) // nothing else can be said of it
	})
}
