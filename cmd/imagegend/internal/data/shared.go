package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/s3"
)

// shared is a Store over a database and an object store. Records, users and credits are in the first, images and
// reference images in the second. On this machine it uses a directory for files on their way to the bucket. Both parts
// are embedded, so its other methods are theirs.
type shared struct {
	*postgres.DB
	*objects

	background sync.WaitGroup     // the goroutine of sweep
	quit       context.CancelFunc // ends it
}

// openShared opens both parts. A command runs no sweep. The database is migrated if
// the role may; if it may not, the error names the command.
func openShared(ctx context.Context, at config.Data, o Options) (*shared, error) {
	images, err := openObjects(ctx, at, o.Serving)
	if err != nil {
		return nil, err
	}
	db, err := postgres.Open(ctx, postgres.Config{URL: at.Database, Schema: at.DatabaseSchema,
		Migrate: true, Connections: at.DatabaseConnections,
		Images: images.Store, Observer: o.Observer, Log: o.Log})
	if err != nil {
		return nil, errors.Join(err, images.Close())
	}
	background, quit := context.WithCancel(context.Background())
	s := &shared{DB: db, objects: images, quit: quit}
	// The sweep has a context of its own: ctx counts only while the data is opened.
	if o.Serving {
		s.background.Go(func() { s.sweep(background, cmp.Or(o.Log, slog.New(slog.DiscardHandler))) })
	}
	return s, nil
}

// objects is a bucket with the local directory through which files pass on their way there.
type objects struct {
	*s3.Store
	local *local
}

// openObjects opens the bucket without asking it anything.
func openObjects(ctx context.Context, at config.Data, serving bool) (*objects, error) {
	c, err := s3.ParseURL(at.Images)
	if err != nil {
		return nil, fmt.Errorf("--images: %w", err)
	}
	l, err := openLocal(at.DataDir, serving)
	if err != nil {
		return nil, err
	}
	c.Dir = filepath.Join(l.dir, "tmp")
	store, err := s3.Open(ctx, c)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &objects{store, l}, nil
}

// Close closes the bucket and then releases the directory.
func (o *objects) Close() error { return errors.Join(o.Store.Close(), o.local.Close()) }

// CheckImages writes, reads, lists and removes an object where images are kept.
func CheckImages(ctx context.Context, at config.Data) error {
	o, err := openObjects(ctx, at, false)
	if err != nil {
		return err
	}
	return errors.Join(o.Check(ctx), o.Close())
}

// Joins implements [imagegen.TxStore]. The engine has shared as its store and as its ledger, and both are the one
// database.
func (s *shared) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(s) || s.DB.Joins(l) }

// Space implements Store for this machine's directory: nobody knows the room in a database or a bucket.
func (s *shared) Space() (storage.Space, error) { return storage.SpaceOf(s.local.dir, nil) }

// Failed implements Store. It returns nil, a channel that never fires: a database that was away is asked again.
func (*shared) Failed() <-chan struct{} { return nil }

// Err implements Store.
func (*shared) Err() error { return nil }

// Close implements Store. The sweep ends before what it uses is closed.
func (s *shared) Close() error {
	s.quit()
	s.background.Wait()
	return errors.Join(s.DB.Close(), s.objects.Close())
}

// local is the directory of this process for files on their way. Close removes it or gives up its lock.
type local struct {
	dir   string
	Close func() error
}

// openLocal locks the directory of a server, or makes a temporary one for a command. A command runs beside servers,
// so it must not use theirs.
func openLocal(dir string, serving bool) (*local, error) {
	if !serving {
		dir, err := os.MkdirTemp("", "imagegend-")
		return &local{dir, func() error { return os.RemoveAll(dir) }}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	release, err := private.Lock(dir)
	if errors.Is(err, private.ErrLocked) {
		err = storage.ErrLocked
	}
	return &local{dir, release}, err
}
