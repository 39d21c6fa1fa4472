package postgres_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// openHosted opens a database as a program does that uses PostgreSQL itself: over its own pool, in a schema with a
// name of its own. The suites run so; everything else runs in the ordinary way.
func openHosted(t *testing.T, url string, change ...func(*postgres.Config)) *postgres.DB {
	return open(t, url, append(change, func(c *postgres.Config) {
		c.Pool, c.Schema = postgrestest.Hosted(t, c.URL), postgrestest.Unusual
		c.URL, c.Connections = "", 0
	})...)
}

// A host's pool is used as it is, however it sends statements, and stays open. Nothing but the schema that was named
// has tables, and they come when they are asked for.
func TestPoolOfTheHosts(t *testing.T) {
	s := postgrestest.Start(t)
	for _, mode := range []string{"cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			is := is.New(t)
			pool := postgrestest.Hosted(t, s.Database(t)+"&default_query_exec_mode="+mode)
			of := postgres.Config{Pool: pool, Schema: postgrestest.Unusual}
			_, err := postgres.Open(t.Context(), of)
			is.True(errors.Is(err, postgres.ErrOlderSchema))
			is.True(strings.Contains(err.Error(), "imagegend migrate"))
			of.Migrate = true
			db, err := postgres.Open(t.Context(), of)
			is.NoErr(err)
			fund(t, db)
			r, err := db.CreateCharged(t.Context(), record(1), time.Minute)
			is.NoErr(err)
			_, err = db.FinishSettled(t.Context(), r.Fence(), failed())
			is.NoErr(err)
			clean(t, db)
			is.NoErr(db.Close())
			var schemas []string
			is.NoErr(pool.QueryRow(t.Context(), `select array_agg(distinct table_schema::text) from information_schema.tables
 where table_schema !~ '^pg_' and table_schema <> 'information_schema'`).Scan(&schemas))
			is.Equal(schemas, []string{postgrestest.Unusual})
		})
	}
}

// What a host's tool runs leads to the same tables as Migrate, one step after the other, and no table is asked for that
// is there.
func TestMigrationsByAnotherTool(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	pool := postgrestest.Hosted(t, s.Database(t))
	all, err := postgres.Migrations(postgrestest.Unusual)
	is.NoErr(err)
	for n, m := range all {
		version, err := postgres.Version(t.Context(), pool, postgrestest.Unusual)
		is.NoErr(err)
		is.Equal(version, n)
		_, err = postgres.Open(t.Context(), postgres.Config{Pool: pool, Schema: postgrestest.Unusual})
		is.True(errors.Is(err, postgres.ErrOlderSchema))
		_, err = pool.Exec(t.Context(), m.SQL, pgx.QueryExecModeSimpleProtocol)
		is.NoErr(err)
	}
	is.NoErr(postgres.Migrate(t.Context(), pool, ""))
	is.Equal(cmp.Diff(columns(t, pool, postgres.DefaultSchema), columns(t, pool, postgrestest.Unusual)), "")
	db, err := postgres.Open(t.Context(), postgres.Config{Pool: pool, Schema: postgrestest.Unusual})
	is.NoErr(err)
	fund(t, db)
	clean(t, db)
	is.NoErr(db.Close())
}

// columns lists the columns and indexes of a schema.
func columns(t *testing.T, pool *pgxpool.Pool, schema string) (all []string) {
	t.Helper()
	is.New(t).NoErr(pool.QueryRow(t.Context(), `select array_agg(what order by what) from (
 select table_name || '.' || column_name || ' ' || data_type what from information_schema.columns where table_schema = $1 union all
 select replace(indexdef, quote_ident($1), '') from pg_indexes where schemaname = $1) x`, schema).Scan(&all))
	return all
}

// The rights that docs/storage.md names are enough: the owner of the schema migrates, another role works, and neither
// may make anything else.
func TestRights(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	roles, grants := rights(t)
	is.NoErr(s.Exec("postgres", roles))
	t.Cleanup(func() { is.NoErr(s.Exec("postgres", "drop role images, images_owner")) })
	storagetest.Joint(t, func(t *testing.T) (imagegen.TxStore, imagegen.CreditAdmin) {
		db := openGranted(t, s, grants)
		return db, db
	})
}

// openGranted opens a database as a role that has been granted what it needs and nothing else.
func openGranted(t *testing.T, s *postgrestest.Server, grants string) *postgres.DB {
	t.Helper()
	is := is.New(t)
	database := databaseOf(t, s.Database(t))
	is.NoErr(s.Exec(database, "revoke all on database "+database+" from public; "+
		strings.ReplaceAll(grants, "database app", "database "+database)))
	t.Cleanup(func() {
		is.NoErr(s.Exec(database, "drop owned by images cascade; drop owned by images_owner cascade; "+
			"grant connect, temporary on database "+database+" to public"))
	})
	of := func(role string) string { return strings.Replace(s.Address(database), "postgres@", role+"@", 1) }
	owner, err := postgres.NewPool(t.Context(), postgres.Config{URL: of("images_owner")})
	is.NoErr(err)
	t.Cleanup(owner.Close)
	worker := postgrestest.Hosted(t, of("images"))
	err = postgres.Migrate(t.Context(), worker, "images")
	is.True(errors.Is(err, postgres.ErrOlderSchema))
	is.True(strings.Contains(err.Error(), "imagegend migrate"))
	is.NoErr(postgres.Migrate(t.Context(), owner, "images"))
	_, err = worker.Exec(t.Context(), "create table images.other ()")
	is.True(err != nil)
	return open(t, "", func(c *postgres.Config) { // a schema that is up to date is only read
		c.Pool, c.Schema, c.Connections = worker, "images", 0
	})
}

// rights is the SQL of docs/storage.md: for the server, and for each database.
func rights(t *testing.T) (roles, grants string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/storage.md")
	is.New(t).NoErr(err)
	_, sql, _ := strings.Cut(string(page), "```sql\n")
	sql, _, found := strings.Cut(sql, "```")
	is.New(t).True(found)
	at := strings.Index(sql, "grant ")
	return sql[:at], sql[at:]
}

// Other encodings than UTF8 are refused.
func TestEncoding(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	is.NoErr(s.Exec("postgres", "create database latin encoding 'LATIN1' template template0"))
	t.Cleanup(func() { is.NoErr(s.Exec("postgres", "drop database latin")) })
	_, err := postgres.Open(t.Context(), postgres.Config{URL: s.Address("latin"), Migrate: true})
	is.True(err != nil)
	is.Equal(err.Error(), "postgres: the encoding of the database is LATIN1; make one with encoding 'UTF8' template template0")
}

// A pool that was not watched would take a wait for a standby that was cancelled for a success.
func TestPoolThatIsNotWatched(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	pool, err := pgxpool.New(t.Context(), s.Address(databaseOf(t, s.Database(t))))
	is.NoErr(err)
	t.Cleanup(pool.Close)
	of := postgres.Config{Pool: pool, Migrate: true}
	db, err := postgres.Open(t.Context(), of)
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(db.Close()) })
	fund(t, db)
	is.NoErr(db.Ready(t.Context()))
	withoutStandby(t, s)
	is.True(errors.Is(db.Ready(t.Context()), postgres.ErrUnsafe))
	_, err = postgres.Open(t.Context(), of)
	is.True(errors.Is(err, postgres.ErrUnsafe))
}

// A pool beside an address, and a name that PostgreSQL would cut, are refused.
func TestConfigThatCannotBe(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	for mode, c := range map[string]postgres.Config{
		"Pool":     {Pool: postgrestest.Hosted(t, url), URL: url},
		"63 bytes": {URL: url, Schema: strings.Repeat("x", 64)},
		"NUL":      {URL: url, Schema: "x\x00"},
	} {
		c.Migrate = true
		_, err := postgres.Open(t.Context(), c)
		is.True(err != nil)
		is.True(strings.Contains(err.Error(), mode))
	}
}
