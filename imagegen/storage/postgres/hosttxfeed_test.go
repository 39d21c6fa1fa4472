package postgres_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// A reader goes by transactions of the host's that stay open, and finds what they bring behind its place once they are
// committed, in whatever order: nothing of those that are rolled back.
func TestFeedBesideOpenHostTransactions(t *testing.T) {
	s := openShop(t, postgrestest.Start(t).Database(t))
	s.is.NoErr(s.db.KeepFeed(t.Context(), true))
	for _, u := range customers {
		_, err := s.db.Grant(t.Context(), imagegen.Grant{User: u, Credits: 100})
		s.is.NoErr(err)
	}
	s.work()
	var r storagetest.FeedReader
	var opened []pgx.Tx
	holders := customers[:6] // each holds a session, of which PgBouncer has eight here for all
	for _, u := range holders {
		// beside the pool, which the engine works with
		conn, err := pgx.Connect(t.Context(), s.url+"&default_query_exec_mode=cache_describe")
		s.is.NoErr(err)
		defer conn.Close(context.Background())
		tx, err := conn.Begin(t.Context())
		s.is.NoErr(err)
		s.order(tx, u, "poster of "+string(u), s.prepare(u, ask("")))
		opened = append(opened, tx)
		s.is.NoErr(r.Read(t.Context(), s.db))
		_, err = s.db.Grant(t.Context(), imagegen.Grant{User: "carol", Credits: 1}) // beside it
		s.is.NoErr(err)
	}
	s.is.NoErr(r.Read(t.Context(), s.db))
	s.is.Equal(len(r.Events), len(customers)+len(holders)) // what was granted
	rand.Shuffle(len(opened), func(i, j int) { opened[i], opened[j] = opened[j], opened[i] })
	for n, tx := range opened {
		place := r.Place()
		if n%3 == 0 {
			s.is.NoErr(tx.Rollback(t.Context()))
		} else {
			s.commit(tx)
			s.web.As("carol").Wake()
		}
		s.is.NoErr(r.Read(t.Context(), s.db))
		s.is.Equal(n%3 > 0, r.Place() > place)
	}
	eventually(t, "all work has ended", func() bool { return s.queued() == 0 && unsettled(t, s.db) == 0 })
	compareFeed(t, s.db, &r, append([]imagegen.UserID{"carol"}, customers...))
}

// followFeed reads a feed beside all else until it is stopped.
func followFeed(t *testing.T, db *postgres.DB) (r *storagetest.FeedReader, stop func()) {
	r = &storagetest.FeedReader{}
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() {
		for ctx.Err() == nil {
			if err := r.Read(context.Background(), db); err != nil {
				t.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	return r, func() {
		cancel()
		reading.Wait()
	}
}

// compareFeed has a reader read the rest, and compares what it has read with all there is.
func compareFeed(t *testing.T, db *postgres.DB, r *storagetest.FeedReader, users []imagegen.UserID) {
	t.Helper()
	is, meanwhile := is.New(t), len(r.Events)
	is.NoErr(r.Read(t.Context(), db))
	whole, generations := storagetest.Fed{Store: db, Ledger: db, Users: users,
		Fact: func(ok bool, format string, args ...any) {
			if !ok {
				t.Errorf(format, args...)
			}
		}}.Compare(t.Context(), r.Events)
	is.True(meanwhile > 0 && generations > 0)
	t.Logf("%d events of %d generations, %d of them read meanwhile", len(whole), generations, meanwhile)
}
