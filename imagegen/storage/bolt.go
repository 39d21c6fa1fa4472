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

// createDatabase makes an empty database. It does so under a temporary name, since bbolt does not
// survive a power cut while it lays out a file. The file then gets its name by a link, not by a rename: a
// link fails if the name exists, so of two processes that start at once only one makes the database.
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

// takeUp prepares a file that the previous process left. The order matters: nothing writes to a file
// before it was checked, and a migration, which reuses pages, must not begin before what the file shows
// is durable.
func takeUp(bolt *bbolt.DB, dir string, size int64) error {
	if err := checkFile(bolt, dir, size); err != nil {
		return err
	}
	if err := settle(bolt); err != nil {
		return err
	}
	return migrate(bolt)
}

// openBolt opens a database file, with addresses reserved for it to grow into. Where the process may not
// reserve so many, it asks for a quarter of them, again and again, down to the size of the file. It waits up
// to a second for another process to close the file.
func openBolt(path string, size int64) (bolt *bbolt.DB, err error) {
	for reserve := initialMap(size); ; reserve /= 4 {
		bolt, err = openMapped(path, &bbolt.Options{Timeout: time.Second, FreelistType: bbolt.FreelistMapType,
			InitialMmapSize: reserve, NoStatistics: true})
		if !errors.Is(err, syscall.ENOMEM) || int64(reserve) <= size {
			return bolt, openError(path, err)
		}
	}
}

// openMapped opens a database file that exists. bbolt would create one that does not, and panics on some
// damaged files: then the file it opened stays open, with its lock, unless it is closed here.
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
		_ = file.Close() // after a panic it is still open
	}
	return bolt, err
}

// openError turns an error of bbolt into one of this package. Whatever is neither another process's lock nor
// the system's refusal to open the file is taken for damage.
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

// initialMap returns how many bytes of addresses to reserve; they take up no memory. It is generous, since
// to let the map grow every writer waits until nobody reads, and every new reader waits behind the writer.
// 0 means no more than the file needs: where addresses are scarce, or where a map makes its file grow.
func initialMap(size int64) int {
	if bits.UintSize == 32 || mapGrowsFile {
		return 0
	}
	return int(mapReserve + 2*size)
}

// mapReserve is how many bytes a file can grow, until it is next opened, without anybody waiting for it. It is
// a variable for tests.
var mapReserve int64 = 256 << 30

// damaged is the ErrCorrupt for a database file, with what to do.
func damaged(path string, why error) error {
	return fmt.Errorf("%w: %s: %v; restore a backup", ErrCorrupt, path, why)
}

// checkFile checks what costs little: that the file is as long as it says and, if it is small, its
// pages. If a commit failed in the previous process, it checks all pages, however many there are, and
// removes the mark of that failure when they are sound.
func checkFile(bolt *bbolt.DB, dir string, size int64) error {
	unclean := filepath.Join(dir, uncleanName)
	_, err := os.Stat(unclean)
	suspect := !errors.Is(err, fs.ErrNotExist) // also if nobody can say whether the mark is there
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

// smallFile is the largest file, in bytes, whose pages are checked at every start.
const smallFile = 64 << 20

// checkPages has bbolt check every page, and that none is both in use and free. It reports what is wrong
// with them; its own error means that they could not be read. It reads the whole file first: bbolt
// checks on a goroutine of its own, where a page that the disk does not return would end the process.
func checkPages(t *bbolt.Tx, report func(wrong error)) error {
	if err := readThrough(t.DB().Path()); err != nil {
		return err
	}
	for wrong := range t.Check() { // to the end: bbolt's goroutine blocks until everything is received
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

// markUnclean leaves the mark that makes the next process check the whole file, with the reason as its
// text. On a failing disk it may not succeed.
func markUnclean(dir string, why error) error {
	path := filepath.Join(dir, uncleanName)
	if err := os.WriteFile(path, []byte(why.Error()+"\n"), 0o600); err != nil {
		return err
	}
	return errors.Join(syncPath(path), syncDir(dir))
}
