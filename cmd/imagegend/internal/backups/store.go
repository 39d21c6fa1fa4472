package backups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/s3"
)

// Store holds finished archives: a directory or a bucket. A Schedule calls one method at a time; doctor may List
// meanwhile.
type Store interface {
	// List lists the archives, oldest first, and ignores everything else.
	List(context.Context) ([]Archive, error)
	// Put stores the file at path as the archive name, durably: all of it or nothing. The file lies in the schedule's
	// directory; Put may move it away or leave it there.
	Put(ctx context.Context, path, name string) error
	// Remove removes an archive.
	Remove(ctx context.Context, name string) error
	// Tidy removes what interrupted Puts have left. No Put may be under way.
	Tidy(context.Context) error
	// String returns the address.
	String() string
}

// InBucket reports whether an address, of archives or of a single one, is that of a bucket rather than a path.
func InBucket(address string) bool { return strings.HasPrefix(address, "s3://") }

// CheckAddress refuses what cannot be the address of a Store. A URL of another scheme would be taken for the path of a
// directory, and the backups would be on this machine and not where they were meant to be.
func CheckAddress(address string) error {
	switch {
	case InBucket(address):
		_, err := s3.ParseURL(address)
		return err
	case strings.Contains(address, "://"):
		return fmt.Errorf("%q is neither a directory nor a bucket: write s3://bucket/prefix?endpoint=https://… for a bucket", address)
	}
	return nil
}

// Open returns the Store at an address: the path of a directory, or s3://bucket/prefix?endpoint=…. It checks the form
// of the address, and not whether anything exists there.
func Open(ctx context.Context, address string) (Store, error) {
	if InBucket(address) {
		return openBucket(ctx, address)
	}
	return directory(address), nil
}

// OpenArchive opens an archive for reading: a file, or an object at s3://bucket/prefix/name?endpoint=…. The caller
// closes it. A missing one is an fs.ErrNotExist or an imagegen.ErrNotFound. The error for the address of a Store names
// the newest archive there: who has lost a machine may know no more than where its backups went.
func OpenArchive(ctx context.Context, address string) (io.ReadCloser, error) {
	if InBucket(address) {
		r, err := openObject(ctx, address)
		if errors.Is(err, imagegen.ErrNotFound) || errors.Is(err, errNoName) {
			err = cmp.Or(newestIn(ctx, address), err)
		}
		return r, err
	}
	if info, err := os.Stat(address); err == nil && info.IsDir() {
		return nil, cmp.Or(newestIn(ctx, address), fmt.Errorf("%s is a directory without backups; name an archive",
			address))
	}
	return os.Open(address)
}

// newestIn returns an error that names the newest archive of the Store at an address; nil if none is found there.
func newestIn(ctx context.Context, address string) error {
	store, err := Open(ctx, address)
	if err != nil {
		return nil
	}
	all, err := store.List(ctx)
	if err != nil || len(all) == 0 {
		return nil
	}
	newest := filepath.Join(address, all[len(all)-1].Name)
	if u, err := url.Parse(address); err == nil && InBucket(address) {
		newest = u.JoinPath(all[len(all)-1].Name).String()
	}
	return fmt.Errorf("%s is not an archive; the newest archive there is %s", address, newest)
}

// listArchives lists the archives of a Store, with an error that names the Store.
func listArchives(ctx context.Context, s Store) ([]Archive, error) {
	all, err := s.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("the backups in %v cannot be listed: %w", s, err)
	}
	return all, nil
}
