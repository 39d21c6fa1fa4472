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

// The reads of a generation do not grow with the rows of others, also where the planner's statistics are older than all
// keys and this day.
func TestPlansWithOldStatistics(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	database := databaseOf(t, url)
	db := open(t, url)
	const users = 40
	is.NoErr(s.Exec(database, `alter table imagegend.api_keys set (autovacuum_enabled = off);
alter table imagegend.usage set (autovacuum_enabled = off);
insert into imagegend.api_keys select int8send(n), 'former ' || n, 'former', '', '', null, null, null, null, 0, 0, 0, 0, 0 from generate_series(1, 10000) n;
insert into imagegend.usage select n::text, '', '2000-01-01', '', 0, 0, 0, 0, 0, 0, 0 from generate_series(1, 10000) n;
analyze imagegend.api_keys;
analyze imagegend.usage`))
	defer func() {
		is.NoErr(s.Exec(database,
			"delete from imagegend.api_keys where usr = 'former'; delete from imagegend.usage where day = '2000-01-01'"))
	}()
	of := func(n int) imagegen.UserID { return imagegen.UserID(fmt.Sprint("user_", n)) }
	for n := range users {
		is.NoErr(db.CreateUser(t.Context(), imagegen.User{ID: of(n), Name: string(of(n))}))
		is.NoErr(db.CreateKey(t.Context(), imagegen.Key{ID: keyNo(n), User: of(n), Hash: [32]byte{1, byte(n)}}))
		_, err := db.Grant(t.Context(), imagegen.Grant{User: of(n), Credits: 10})
		is.NoErr(err)
	}
	begin := 1
	turn := func() {
		db, err := postgres.Open(t.Context(), postgres.Config{Migrate: true, URL: url})
		is.NoErr(err)
		var g errgroup.Group
		for n := range users {
			g.Go(func() error { return generateWith(db, begin+n, of(n), keyNo(n)) })
		}
		is.NoErr(g.Wait())
		is.NoErr(db.Close())
		begin += users
	}
	turn() // from now on each has usage
	before := readSoFar(t, s, database)
	turn()
	after := readSoFar(t, s, database)
	eventually(t, "the database is reached again, whose sessions were ended", func() bool {
		return db.Ready(t.Context()) == nil
	})
	if each := (after - before) / users; each > 20 {
		t.Errorf("%d rows were read for a generation", each)
	}
}

func keyNo(n int) imagegen.KeyID { return imagegen.KeyID(fmt.Sprintf("key_%026d", n)) }

// readSoFar counts the rows of users, keys and usage that were read. What sessions have read counts once they have
// ended.
func readSoFar(t *testing.T, s *postgrestest.Server, database string) (rows int64) {
	t.Helper()
	is := is.New(t)
	c, err := pgx.Connect(t.Context(), s.Address(database))
	is.NoErr(err)
	defer c.Close(context.Background())
	const others = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'"
	_, err = c.Exec(t.Context(),
		"select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'")
	is.NoErr(err)
	eventually(t, "sessions end", func() bool {
		var n int
		is.NoErr(c.QueryRow(t.Context(), others).Scan(&n))
		return n == 0
	})
	is.NoErr(c.QueryRow(t.Context(),
		"select sum(idx_tup_fetch)::bigint from pg_stat_user_tables where relname in ('users', 'api_keys', 'usage')").Scan(&rows))
	return rows
}

// generateWith is generate by way of a key.
func generateWith(db *postgres.DB, n int, u imagegen.UserID, key imagegen.KeyID) error {
	r := record(n)
	r.User, r.KeyID = u, key
	r, err := db.CreateCharged(context.Background(), r, time.Minute)
	if err == nil {
		_, err = db.FinishSettled(context.Background(), r.Fence(), failed())
	}
	return err
}

// No statement of a transaction that writes is compiled before it runs: that takes longer than the transaction. It
// would be, where PostgreSQL was built with LLVM, for each that reads a table without an index, such as the clock's
// single row.
func TestNoStatementIsCompiled(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	c, err := pgx.Connect(t.Context(), s.Address("postgres"))
	is.NoErr(err)
	defer c.Close(context.Background())
	_, err = c.Exec(t.Context(), "set jit = on; "+postgres.Settings)
	is.NoErr(err)
	var jit string
	is.NoErr(c.QueryRow(t.Context(), "select current_setting('jit')").Scan(&jit))
	is.Equal(jit, "off")
}
