package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"
	"golang.org/x/sync/errgroup"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// A generation, charged and settled with an image, writes no more than 5 KB ahead, of which each is sent to the
// standby. Full-page images are not counted: how many there are is up to the time between checkpoints.
func TestWALOfAGeneration(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	const before, counted, clients, users = 320, 640, 64, 100
	is.NoErr(s.Exec("postgres", "alter system set full_page_writes = off"))
	is.NoErr(s.Exec("postgres", "select pg_reload_conf()"))
	t.Cleanup(func() {
		is.NoErr(s.Exec("postgres", "alter system reset full_page_writes"))
		is.NoErr(s.Exec("postgres", "select pg_reload_conf()"))
	})
	db := open(t, s.Database(t))
	c, err := pgx.Connect(t.Context(), s.Address("postgres"))
	is.NoErr(err)
	defer c.Close(context.Background())
	eventually(t, "no full-page images are written", func() (off bool) {
		is.NoErr(c.QueryRow(t.Context(), "select current_setting('full_page_writes') = 'off'").Scan(&off))
		return off
	})
	written := func() (bytes int64) {
		is.NoErr(c.QueryRow(t.Context(), "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint").Scan(&bytes))
		return bytes
	}

	atOnce := func(from, to int, f func(n int) error) {
		var g errgroup.Group
		g.SetLimit(clients)
		for n := from; n < to; n++ {
			g.Go(func() error { return f(n) })
		}
		is.NoErr(g.Wait())
	}
	of := func(n int) imagegen.UserID { return imagegen.UserID(fmt.Sprint("user_", n%users)) }
	atOnce(0, users, func(n int) error {
		_, err := db.Grant(t.Context(), imagegen.Grant{User: of(n), Credits: 1000})
		return err
	})
	atOnce(0, before, func(n int) error { return generate(db, n, of(n)) })
	begun := written()
	atOnce(before, before+counted, func(n int) error { return generate(db, n, of(n)) })
	each := (written() - begun) / counted
	t.Logf("%d bytes a generation", each)
	is.True(each <= 5000)
}

// generate writes a generation down as the engine does.
func generate(db *postgres.DB, n int, u imagegen.UserID) error {
	r, now := record(n), time.Now().UTC()
	r.User, r.Prompt = u, "a fox in the snow, seen from afar"
	r, err := db.CreateCharged(context.Background(), r, time.Minute)
	if err != nil {
		return err
	}
	_, err = db.FinishSettled(context.Background(), r.Fence(), imagegen.OutcomeChange{At: now,
		Images: []imagegen.StoredImage{{
			ID: imagegen.ImageID(fmt.Sprintf("image_%026d%026d", n, 0)), Attempt: 1, MediaType: "image/png",
			Width: 1024, Height: 1024, Size: 1 << 20, CreatedAt: now,
		}}})
	return err
}
