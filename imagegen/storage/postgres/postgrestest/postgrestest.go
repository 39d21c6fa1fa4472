//go:build unix

package postgrestest

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/imagegend/imagegend/imagegen/storage/postgres"
)

// Server is a running PostgreSQL.
type Server struct {
	*cluster

	mu     sync.Mutex
	made   int
	free   []string // databases that are empty, and nobody's
	pooler *Pooler  // nil: nobody has asked for it
}

var start = sync.OnceValues(newServer)

// Asked is the variable that asks for these tests: they take longer than all others together, and change with nothing
// but the storage. "pgbouncer" asks for them with PgBouncer before each database.
const Asked = "IMAGEGEN_TEST_POSTGRES"

const throughPgBouncer = "pgbouncer"

// Start returns the server of this test binary, which ends with it. Where nobody asks for these tests, or there is no
// PostgreSQL, the test is skipped. Call it outside of bubbles of testing/synctest.
func Start(t testing.TB) *Server {
	t.Helper()
	required(t)
	s, err := start()
	if err != nil {
		t.Fatalf("PostgreSQL does not start: %v", err)
	}
	if os.Getenv(Asked) == throughPgBouncer {
		if pgBouncers() == "" {
			t.Skip(noPgBouncer)
		}
		s.Pooled(t, "") // Database may be called in a bubble, in which it would be waited for without end
	}
	return s
}

// StartOnDisk starts a server whose data lie on the disk, where tests of Go have their directories: for measuring. It
// ends with the test. Start says when the test is skipped.
func StartOnDisk(t testing.TB) *Server {
	t.Helper()
	required(t)
	c, err := newClusterIn("", "postgresdisk", "4GB")
	check(t, err)
	t.Cleanup(c.remove)
	check(t, c.initialise())
	check(t, c.start())
	t.Cleanup(func() { c.stop("INT") })
	return &Server{cluster: c}
}

// required skips the test where nobody asks for it, or there is no PostgreSQL.
func required(t testing.TB) {
	t.Helper()
	if os.Getenv(Asked) == "" {
		t.Skip("NOT RUN: " + Asked + "=1, or .ci/run postgres, asks for the tests on PostgreSQL")
	}
	if programs() == "" {
		t.Skip("there is no PostgreSQL here: install Debian's package postgresql, have initdb in PATH, or name the directory of its programs in " + programsVariable)
	}
}

// TB is what Database needs of a test. [testing.TB] has it, and rapid.T too.
type TB interface {
	Helper()
	Cleanup(func())
	Error(...any)
	Fatalf(format string, args ...any)
}

// Database returns the address of an empty database, which is the test's own until its end. By then nobody is to
// be connected any more.
func (s *Server) Database(t TB) (url string) {
	t.Helper()
	name, err := s.take()
	if err != nil {
		t.Fatalf("no database can be made: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Exec(name, empty); err != nil {
			t.Error(err)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.free = append(s.free, name)
	})
	if os.Getenv(Asked) == throughPgBouncer {
		return s.Pooled(t, s.Address(name))
	}
	return s.Address(name)
}

// empty drops every schema but those that a new database has.
const empty = `do $$ declare name text; begin
for name in select nspname from pg_namespace where nspname not in ('public', 'information_schema') and nspname !~ '^pg_' loop
  execute format('drop schema %I cascade', name);
end loop; end $$`

// Unusual is a name for a schema that has to be quoted wherever it stands, and contains the usual one.
const Unusual = `imagegend."Select"'s $$ Größe`

// Hosted returns a pool such as a program has that uses PostgreSQL itself. It ends with the test.
func Hosted(t TB, url string) *pgxpool.Pool {
	t.Helper()
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatalf("%v", err)
	}
	c.MaxConns = 8
	if os.Getenv(Asked) == throughPgBouncer && c.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	postgres.Watch(c)
	pool, err := pgxpool.NewWithConfig(context.Background(), c)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// take finds an empty database: to make one takes far longer than to empty it.
func (s *Server) take() (name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		name, s.free = s.free[n-1], s.free[:n-1]
		return name, nil
	}
	s.made++
	name = "test" + strconv.Itoa(s.made)
	return name, s.Exec("postgres", "create database "+name)
}

func newServer() (*Server, error) {
	c, err := newCluster("postgrestest")
	if err != nil {
		return nil, err
	}
	if err = c.initialise(); err == nil {
		err = c.start()
	}
	if err != nil {
		c.remove()
		return nil, err
	}
	return &Server{cluster: c}, nil
}
