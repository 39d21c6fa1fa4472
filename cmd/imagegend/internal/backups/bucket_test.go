package backups_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// distant is a Store that is away at times.
type distant struct {
	backups.Store

	mu         sync.Mutex
	away, full error
}

// set changes what is wrong with it from now on: it does not answer, or takes nothing more.
func (d *distant) set(away, full error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.away, d.full = away, full
}

func (d *distant) wrong() (away, full error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.away, d.full
}

func (d *distant) List(ctx context.Context) ([]backups.Archive, error) {
	if away, _ := d.wrong(); away != nil {
		return nil, away
	}
	return d.Store.List(ctx)
}

func (d *distant) Put(ctx context.Context, path, name string) error {
	if _, full := d.wrong(); full != nil {
		return full
	}
	return d.Store.Put(ctx, path, name)
}

// A store that is away keeps nobody from starting; a backup is made once it is there again.
func TestStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		dir, shelf := t.TempDir(), t.TempDir()
		lies, err := backups.Open(t.Context(), shelf)
		is.NoErr(err)
		store, service := &distant{Store: lies, away: errors.New("no route to host")}, &service{}
		o := options(dir, service)
		o.Store = store
		s, err := backups.New(t.Context(), o)
		is.NoErr(err)
		warns := func(want string) {
			t.Helper()
			is.True(strings.Contains(s.Trouble(), want))
		}
		warns("the backups in " + shelf + " cannot be listed: no route to host; no good one is known")
		is.Equal(s.State().Dir, shelf)

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.Run(ctx) }()
		time.Sleep(time.Minute)
		is.Equal(service.count(), 0) // of no use
		store.set(nil, errors.New("quota"))
		time.Sleep(15 * time.Minute)
		warns("it could not be put into " + shelf + ": quota")
		is.Equal(service.count(), 1)
		is.Equal(len(names(t, dir)), 0)
		store.set(nil, nil)
		time.Sleep(15 * time.Minute)
		is.Equal(s.Trouble(), "")
		is.Equal(len(names(t, shelf)), 1)

		store.set(errors.New("no route to host"), nil)
		time.Sleep(6 * time.Hour)
		warns("no route to host; the last good one is of 2000-01-01T00:30:00Z")
		cancel()
		<-ended
		is.NoErr(s.Close())
	})
}

// inBucket is the address of an object at a Store's address.
func inBucket(store backups.Store, name string) string {
	where, query, _ := strings.Cut(store.String(), "?")
	return where + "/" + name + "?" + query
}

// The archives in a bucket can be restored; those beyond the number to keep are removed, and other objects stay.
func TestArchivesInABucket(t *testing.T) {
	is := is.New(t)
	store, err := backups.Open(t.Context(), s3test.Start(t).Address())
	is.NoErr(err)
	db, err := storage.Open(t.TempDir(), nil)
	is.NoErr(err)
	defer db.Close()
	_, err = db.Grant(t.Context(), imagegen.Grant{User: "usr_1", Credits: 7})
	is.NoErr(err)
	letter := filepath.Join(t.TempDir(), "letter")
	is.NoErr(os.WriteFile(letter, []byte("a letter"), 0o600))
	is.NoErr(store.Put(t.Context(), letter, "imagegend-letter.tar"))

	ctx, cancel := context.WithCancel(t.Context())
	made := 0
	o := backups.Options{Dir: t.TempDir(), Store: store, Every: time.Millisecond, Keep: 2,
		Log: slog.New(slog.DiscardHandler)}
	o.Write = func(ctx context.Context, w io.Writer) error {
		if made == 4 {
			cancel()
			return ctx.Err()
		}
		made++
		return db.Backup(ctx, w)
	}
	s, err := backups.New(t.Context(), o)
	is.NoErr(err)
	s.Run(ctx)
	is.Equal(s.State().Failure, "")
	is.NoErr(s.Close())
	is.Equal(len(names(t, o.Dir)), 0)
	all, err := store.List(t.Context())
	is.NoErr(err)
	is.Equal(len(all), 2)

	next, err := backups.New(t.Context(), o)
	is.NoErr(err)
	is.Equal(next.State(), backups.State{Dir: store.String(), Every: time.Millisecond, Keep: 2, Archives: 2,
		Last: all[1]})
	is.NoErr(next.Close())
	for _, a := range all {
		f, err := backups.OpenArchive(t.Context(), inBucket(store, a.Name))
		is.NoErr(err)
		is.NoErr(storage.Restore(t.Context(), f, filepath.Join(t.TempDir(), "restored")))
		is.NoErr(f.Close())
	}
	f, err := backups.OpenArchive(t.Context(), inBucket(store, "imagegend-letter.tar"))
	is.NoErr(err)
	is.NoErr(f.Close())
	_, err = backups.OpenArchive(t.Context(), inBucket(store, "imagegend-none.tar"))
	is.True(errors.Is(err, imagegen.ErrNotFound))
	newest := inBucket(store, all[1].Name)
	_, err = backups.OpenArchive(t.Context(), store.String())
	is.True(err != nil && strings.HasSuffix(err.Error(), "is not an archive; the newest archive there is "+newest))
	_, err = backups.OpenArchive(t.Context(), strings.Replace(store.String(), "s3://"+s3test.Bucket, "s3://nobody", 1))
	is.True(err != nil && !strings.Contains(err.Error(), "newest"))
	where, query, _ := strings.Cut(s3test.Start(t).Address(), "?")
	_, err = backups.OpenArchive(t.Context(), where[:strings.LastIndexByte(where, '/')]+"?"+query)
	is.True(err != nil && strings.Contains(err.Error(), "write s3://bucket/prefix/imagegend-TIME.tar"))
}
