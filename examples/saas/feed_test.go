package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// follower is another program, which reads the feed of the shop's images beside everything.
type follower struct {
	*testing.T
	storagetest.FeedReader
	db   *postgres.DB
	stop func()
}

// followFeed turns the feed on, before anything happens, and reads it.
func followFeed(t *testing.T, database string) *follower {
	t.Helper()
	is := is.New(t)
	pool, err := openPool(t.Context(), database)
	is.NoErr(err)
	db, err := postgres.Open(t.Context(), postgres.Config{Pool: pool, Schema: "images", Migrate: true})
	is.NoErr(err)
	is.NoErr(db.KeepFeed(t.Context(), true))
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{T: t, db: db}
	var reading sync.WaitGroup
	reading.Go(func() {
		for ctx.Err() == nil {
			if err := f.Read(context.Background(), db); err != nil {
				t.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	f.stop = sync.OnceFunc(func() {
		cancel()
		reading.Wait()
	})
	t.Cleanup(func() {
		f.stop()
		is.NoErr(db.Close())
		pool.Close()
	})
	return f
}

// compare compares what was read with the books and the generations of all customers.
func (f *follower) compare(orders int) {
	f.Helper()
	is := is.New(f.T)
	f.stop()
	meanwhile := len(f.Events)
	is.NoErr(f.Read(f.Context(), f.db))
	fed := storagetest.Fed{Store: f.db, Ledger: f.db, Fact: func(ok bool, format string, args ...any) {
		if !ok {
			f.Errorf(format, args...)
		}
	}}
	for n := range orders {
		fed.Users = append(fed.Users, imagegen.UserID(fmt.Sprint("customer ", n)))
	}
	whole, generations := fed.Compare(f.Context(), f.Events)
	f.Logf("%d events of %d generations, %d of them read meanwhile", len(whole), generations, meanwhile)
	is.True(meanwhile > orders)
}
