package backups

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// directory holds archives as files. They are made in it as well, so that a rename completes one: a rename works only
// within one file system.
type directory string

// String implements Store.
func (d directory) String() string { return string(d) }

// List implements Store.
func (d directory) List(context.Context) (all []Archive, err error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		// An archive can be removed between ReadDir and Info, by an operator for example.
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if a, ok := parse(e.Name(), info.Size()); ok {
			all = append(all, a)
		}
	}
	return oldestFirst(all), nil
}

// Put implements Store. The file's bytes are durable already; the name is durable once the directory is flushed.
func (d directory) Put(_ context.Context, path, name string) error {
	if err := os.Rename(path, filepath.Join(string(d), name)); err != nil {
		return err
	}
	return SyncDir(string(d))
}

// Remove implements Store.
func (d directory) Remove(_ context.Context, name string) error {
	return os.Remove(filepath.Join(string(d), name))
}

// Tidy implements Store. A rename is done or not done, so there is nothing to remove.
func (directory) Tidy(context.Context) error { return nil }
