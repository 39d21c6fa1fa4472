package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/matryer/is"
	"golang.org/x/sync/errgroup"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// expand is a migration as a next version could have it: it adds a column, renames others, which stay for the former
// version in a view, and makes an index.
const expand = `
alter table imagegend.accounts add column next text;
alter table imagegend.generations rename to works;
alter table imagegend.works rename column prompt to asked;
alter table imagegend.works rename column completed_at to ended_at;
create index works_asked on imagegend.works (usr, price);
create view imagegend.generations as select id, usr, payer, api_key, model, asked as prompt, n, width, height, quality, effort, ratio,
 tier, price, options, async, idempotency_key, idempotency_hash, nth, fingerprint, join_key, created_at, charged_here, state, status,
 attempt, failures, resumptions, delay, due_at, job, job_upstreams, published, failure, failure_detail, ended_at as completed_at,
 balance, balance_account_type, balance_expires, balance_expires_at, undelivered, favourite, partly_cancelled, dispute, refunded, hosted,
 image_count, reference_count, attempt_count from imagegend.works`

// contract takes away what the former version needs.
const contract = expand + `;
drop view imagegend.generations;
alter table imagegend.accounts drop column epoch`

// A program works on beside a migration of the next version, and after it as before.
func TestExpand(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Joint(t, func(t *testing.T) (imagegen.TxStore, imagegen.CreditAdmin) {
		url := s.Database(t)
		db := openHosted(t, url)
		pool := postgrestest.Hosted(t, url)
		is.New(t).NoErr(postgres.MigrateWith(t.Context(), pool, postgrestest.Unusual, expand, 1, true))
		return db, db
	})
}

// Several processes migrate at once, under load: one of them does it, and nothing fails. The former version opens the
// schema that is one ahead, and refuses one that asks for a later program; the next version refuses one that is behind.
func TestMigrateUnderLoad(t *testing.T) {
	s, is, ctx := postgrestest.Start(t), is.New(t), t.Context()
	url := s.Database(t)
	db := open(t, url)
	_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1_000_000})
	is.NoErr(err)
	pool := postgrestest.Hosted(t, url)
	err = postgres.MigrateWith(ctx, pool, "", expand, 1, false)
	is.True(errors.Is(err, postgres.ErrOlderSchema))
	behind := fmt.Sprintf("%d of %d migrations; run imagegend migrate", known(), known()+1)
	is.True(strings.Contains(err.Error(), behind))

	var made atomic.Int64
	var ended atomic.Bool
	var load, migrations errgroup.Group
	for range 4 {
		load.Go(func() error {
			for !ended.Load() {
				if err := generate(db, int(made.Add(1)), "alice"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range 3 {
		migrations.Go(func() error { return postgres.MigrateWith(ctx, pool, "", expand, 1, true) })
	}
	is.NoErr(migrations.Wait())
	is.NoErr(postgres.MigrateWith(ctx, pool, "", expand, 1, true)) // again
	version(t, pool, known()+1)
	before := made.Load()
	eventually(t, "work goes on", func() bool { return made.Load() > before+20 })
	ended.Store(true)
	is.NoErr(load.Wait())
	is.NoErr(postgres.Migrate(ctx, pool, "")) // by the former version, which leaves a later one as it is
	version(t, pool, known()+1)
	clean(t, open(t, url))
}

// known is how many migrations this program knows.
func known() int {
	all, err := postgres.Migrations("")
	if err != nil {
		panic(err)
	}
	return len(all)
}

func version(t *testing.T, pool *pgxpool.Pool, want int) {
	t.Helper()
	got, err := postgres.Version(t.Context(), pool, "")
	is.New(t).NoErr(err)
	is.New(t).Equal(got, want)
}

// A migration that takes away what a program needs says so, and the program refuses the schema.
func TestContract(t *testing.T) {
	s, is, ctx := postgrestest.Start(t), is.New(t), t.Context()
	url := s.Database(t)
	pool := postgrestest.Hosted(t, url)
	is.NoErr(postgres.Migrate(ctx, pool, ""))
	is.NoErr(postgres.MigrateWith(ctx, pool, "", contract, known()+1, true))
	_, err := postgres.Open(ctx, postgres.Config{URL: url, Migrate: true})
	is.True(errors.Is(err, postgres.ErrNewerSchema))
	is.True(errors.Is(postgres.Migrate(ctx, pool, ""), postgres.ErrNewerSchema))
}

// A transaction that holds a table holds up a migration, which holds up nobody else for long.
func TestMigrationWaits(t *testing.T) {
	s, is, ctx := postgrestest.Start(t), is.New(t), t.Context()
	url := s.Database(t)
	db := open(t, url)
	fund(t, db)
	pool := postgrestest.Hosted(t, url)
	holds, err := pool.Begin(ctx)
	is.NoErr(err)
	defer holds.Rollback(context.Background()) // or the pool would never close
	_, err = holds.Exec(ctx, "select from imagegend.generations")
	is.NoErr(err)
	migrated := make(chan error, 1)
	go func() { migrated <- postgres.MigrateWith(ctx, pool, "", expand, 1, true) }()
	eventually(t, "the migration waits", func() (waits bool) {
		is.NoErr(pool.QueryRow(ctx, "select exists (select from pg_locks where not granted and mode = 'AccessExclusiveLock')").Scan(&waits))
		return waits
	})
	is.NoErr(generate(db, 1, "alice"))
	version(t, pool, known())
	is.NoErr(holds.Rollback(ctx))
	is.NoErr(<-migrated)
	version(t, pool, known()+1)
}

// A migration comes by its tables without a deadlock with those who write, whatever its order: a transaction that has
// locked an account finds the generations free.
func TestMigrationTakesTablesInTurn(t *testing.T) {
	s, is, ctx := postgrestest.Start(t), is.New(t), t.Context()
	url := s.Database(t)
	db := open(t, url)
	fund(t, db)
	pool := postgrestest.Hosted(t, url)
	writes, err := pool.Begin(ctx)
	is.NoErr(err)
	defer writes.Rollback(context.Background())
	_, err = writes.Exec(ctx, "select from imagegend.accounts for update")
	is.NoErr(err)
	migrated := make(chan error, 1)
	go func() {
		migrated <- postgres.MigrateWith(ctx, pool, "", `alter table imagegend.generations add column next text;
alter table imagegend.accounts add column next text`, 1, true)
	}()
	eventually(t, "the migration waits", func() (waits bool) {
		is.NoErr(pool.QueryRow(ctx, "select exists (select from pg_locks where not granted and relation = 'imagegend.accounts'::regclass)").Scan(&waits))
		return waits
	})
	_, err = writes.Exec(ctx, "lock table imagegend.generations in row exclusive mode nowait")
	is.NoErr(err)
	is.NoErr(writes.Rollback(ctx))
	is.NoErr(<-migrated)
}
