package storage

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// createDatabase makes an empty database under another name first: bbolt does not survive a power
// cut while it lays out a file. It is linked, not renamed, so that of two processes that begin at
// once only one makes it.
func createDatabase(dir string) error {
	f, err := os.CreateTemp(dir, scratchPrefix)
	if err != nil {
		return unreachable(dir, err)
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	bolt, err := openBolt(f.Name(), 0)
	if err != nil {
		return err
	}
	if err := errors.Join(migrate(bolt), bolt.Close(), syncPath(f.Name())); err != nil {
		return err
	}
	if err := os.Link(f.Name(), filepath.Join(dir, databaseName)); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	return syncDir(dir)
}

// openFile opens the database of a directory and checks that it can be used.
func openFile(dir string) (*bbolt.DB, error) {
	path := filepath.Join(dir, databaseName)
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreachable(dir, err)
	}
	if info.Size() == 0 { // bbolt would begin a new one
		return nil, damaged(path, errors.New("it is empty"))
	}
	bolt, err := openBolt(path, info.Size())
	if err != nil {
		return nil, err
	}
	if err = takeUp(bolt, dir, info.Size()); err != nil {
		_ = bolt.Close()
		return nil, err
	}
	return bolt, nil
}

// takeUp goes on with a file as the process before has left it.
func takeUp(bolt *bbolt.DB, dir string, size int64) error {
	if err := checkFile(bolt, dir, size); err != nil {
		return err
	}
	if err := settle(bolt); err != nil {
		return err
	}
	return migrate(bolt)
}

// openBolt opens a database file, with addresses reserved for it to grow into.
func openBolt(path string, size int64) (bolt *bbolt.DB, err error) {
	for reserve := initialMap(size); ; reserve /= 4 {
		bolt, err = openMapped(path, &bbolt.Options{Timeout: time.Second, FreelistType: bbolt.FreelistMapType, InitialMmapSize: reserve, NoStatistics: true})
		if !errors.Is(err, syscall.ENOMEM) || int64(reserve) <= size {
			return bolt, openError(path, err)
		}
	}
}

// openMapped opens a database file that exists.
func openMapped(path string, o *bbolt.Options) (bolt *bbolt.DB, err error) {
	var file *os.File
	o.OpenFile = func(name string, flag int, perm os.FileMode) (_ *os.File, err error) {
		file, err = os.OpenFile(name, flag&^os.O_CREATE, perm)
		return file, err
	}
	err = guard(func() (err error) {
		bolt, err = bbolt.Open(path, 0o600, o)
		return err
	})
	if err != nil && file != nil {
		_ = file.Close() // after a panic it is open still
	}
	return bolt, err
}

// openError turns an error of bbolt into one of this package.
func openError(path string, err error) error {
	switch p, ok := errors.AsType[*fs.PathError](err); {
	case err == nil:
		return nil
	case errors.Is(err, bbolterrors.ErrTimeout):
		return fmt.Errorf("%w: %s", ErrLocked, filepath.Dir(path))
	case ok:
		return unreachable(filepath.Dir(path), p)
	}
	return damaged(path, err)
}

// initialMap reserves addresses, not memory: when the map has to grow, every writer waits until nobody
// reads, and every new reader behind them. Where a process may not have so many, openBolt takes fewer.
func initialMap(size int64) int {
	if bits.UintSize == 32 || mapGrowsFile {
		return 0
	}
	return int(mapReserve + 2*size)
}

// mapReserve is how far a file can grow before it is opened again without anybody waiting for it.
var mapReserve int64 = 256 << 30

// damaged is the ErrCorrupt for a database file, with what to do.
func damaged(path string, why error) error {
	return fmt.Errorf("%w: %s: %v; restore a backup", ErrCorrupt, path, why)
}

// checkFile checks what costs little: that the file is as long as it says and, if it is small, its
// pages. If a commit failed in the process before, they are checked however many there are.
func checkFile(bolt *bbolt.DB, dir string, size int64) error {
	unclean := filepath.Join(dir, uncleanName)
	_, err := os.Stat(unclean)
	suspect := !errors.Is(err, fs.ErrNotExist)
	err = bolt.View(func(t *bbolt.Tx) error {
		if t.Size() > size {
			return fmt.Errorf("it is %d bytes long and should be %d", size, t.Size())
		}
		if !suspect && size > smallFile {
			return nil
		}
		var found error
		err := checkPages(t, func(wrong error) { found = cmp.Or(found, wrong) })
		return cmp.Or(err, found)
	})
	if err != nil {
		return damaged(bolt.Path(), err)
	}
	if !suspect {
		return nil
	}
	if err := os.Remove(unclean); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("storage: %w", err)
	}
	return nil
}

// smallFile is how long a file may be for its pages to be checked whenever it is opened.
const smallFile = 64 << 20

// checkPages has bbolt check every page, and that none is both in use and free. The file is read
// through before: bbolt checks on a goroutine of its own, where a page that the disk does not give
// back would end the process.
func checkPages(t *bbolt.Tx, report func(wrong error)) error {
	if err := readThrough(t.DB().Path()); err != nil {
		return err
	}
	for wrong := range t.Check() { // to its end, else it never ends
		report(wrong)
	}
	return nil
}

// readThrough reads a whole file, so that a page that the disk cannot read is an error
// here and not a fault in mapped memory.
func readThrough(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}

// markUnclean has the next process check the whole file. On a disk that fails it may not succeed.
func markUnclean(dir string, why error) error {
	path := filepath.Join(dir, uncleanName)
	if err := os.WriteFile(path, []byte(why.Error()+"\n"), 0o600); err != nil {
		return err
	}
	return errors.Join(syncPath(path), syncDir(dir))
}
