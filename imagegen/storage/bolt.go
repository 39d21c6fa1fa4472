package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
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
	if err = checkFile(bolt, dir, info.Size()); err == nil {
		err = migrate(bolt)
	}
	if err != nil {
		_ = bolt.Close()
		return nil, err
	}
	return bolt, nil
}

func openBolt(path string, size int64) (bolt *bbolt.DB, err error) {
	var file *os.File
	options := &bbolt.Options{
		Timeout:         time.Second,
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: initialMap(size),
		NoStatistics:    true,
		OpenFile: func(name string, flag int, perm os.FileMode) (_ *os.File, err error) {
			file, err = os.OpenFile(name, flag&^os.O_CREATE, perm)
			return file, err
		},
	}
	err = guard(func() (err error) {
		bolt, err = bbolt.Open(path, 0o600, options)
		return err
	})
	if err == nil {
		return bolt, nil
	}
	if file != nil {
		_ = file.Close() // after a panic it is open still
	}
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, filepath.Dir(path))
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, unreachable(filepath.Dir(path), p)
	}
	return nil, damaged(path, err)
}

// initialMap reserves addresses, not memory: when the map has to grow, writers wait until nobody
// reads, a backup among them.
func initialMap(size int64) int {
	if bits.UintSize == 32 || mapGrowsFile {
		return 0
	}
	return int(max(1<<30, 2*size))
}

func damaged(path string, why error) error {
	return fmt.Errorf("%w: %s: %v; restore a backup", ErrCorrupt, path, why)
}

// checkFile checks what costs nothing: that the file is as long as it says. If a commit failed in
// the process before, the whole file is checked.
func checkFile(bolt *bbolt.DB, dir string, size int64) error {
	unclean := filepath.Join(dir, uncleanName)
	_, err := os.Stat(unclean)
	suspect := !errors.Is(err, fs.ErrNotExist)
	err = bolt.View(func(t *bbolt.Tx) error {
		if t.Size() > size {
			return fmt.Errorf("it is %d bytes long and should be %d", size, t.Size())
		}
		if !suspect {
			return nil
		}
		var first error
		for err := range t.Check() { // to its end, else it never ends
			first = errors.Join(first, err)
		}
		return first
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

// markUnclean has the next process check the whole file. On a disk that fails it may not succeed.
func markUnclean(dir string, why error) error {
	path := filepath.Join(dir, uncleanName)
	if err := os.WriteFile(path, []byte(why.Error()+"\n"), 0o600); err != nil {
		return err
	}
	return errors.Join(syncPath(path), syncDir(dir))
}
