package backups

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// Store is where archives lie: a directory or a bucket.
type Store interface {
	// List lists the archives, oldest first.
	List(context.Context) ([]Archive, error)
	// Put gives a file at a path in the schedule's directory the name of an archive, durably: the whole of it, or
	// nothing. The file may be at the path afterwards, or not.
	Put(ctx context.Context, path, name string) error
	Remove(ctx context.Context, name string) error
	// Tidy removes what a Put that was killed has left. None is under way.
	Tidy(context.Context) error
	// String says where it is.
	String() string
}

// InBucket reports whether an address of archives, or of one of them, names a bucket and not a path.
func InBucket(address string) bool { return strings.HasPrefix(address, "s3://") }

// Open returns the Store at an address: the path of a directory, or s3://bucket/prefix?endpoint=…. It looks whether
// the address means something, and not whether anything is there.
func Open(ctx context.Context, address string) (Store, error) {
	if InBucket(address) {
		return openBucket(ctx, address)
	}
	return directory(address), nil
}

// OpenArchive opens an archive for reading: a file, or an object at s3://bucket/prefix/name?endpoint=….
func OpenArchive(ctx context.Context, address string) (io.ReadCloser, error) {
	if InBucket(address) {
		return openObject(ctx, address)
	}
	return os.Open(address)
}

// list lists the archives of a Store.
func list(ctx context.Context, s Store) ([]Archive, error) {
	all, err := s.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("the backups in %v cannot be listed: %w", s, err)
	}
	return all, nil
}
