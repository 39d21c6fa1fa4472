//go:build unix

package postgrestest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running PostgreSQL.
type Server struct {
	port  int
	alive io.Closer // what it ends with; held, so that it is not closed as garbage

	mu   sync.Mutex
	made int
	free []string // databases that are empty, and nobody's
}

// startFor is how long a server may take to answer, on a machine that is busy.
const startFor = time.Minute

// memory is where files lie in memory, if there is such a directory: no test is about the disk.
const memory = "/dev/shm"

var start = sync.OnceValues(newServer)

// Asked is the variable that asks for these tests: they take longer than all others together, and change with nothing
// but the storage.
const Asked = "IMAGEGEN_TEST_POSTGRES"

// Start returns the server of this test binary, which ends with it. Where nobody asks for these tests, or there is no
// PostgreSQL, the test is skipped. Call it outside of bubbles of testing/synctest.
func Start(t testing.TB) *Server {
	t.Helper()
	if os.Getenv(Asked) == "" {
		t.Skip("NOT RUN: " + Asked + "=1, or .ci/run postgres, asks for the tests on PostgreSQL")
	}
	if programs() == "" {
		t.Skip("there is no PostgreSQL here: install Debian's package postgresql, or have initdb in PATH")
	}
	s, err := start()
	if err != nil {
		t.Fatalf("PostgreSQL does not start: %v", err)
	}
	return s
}

// Database returns the address of an empty database, which is the test's own until its end. By then nobody is to
// be connected any more.
func (s *Server) Database(t testing.TB) (url string) {
	t.Helper()
	name, err := s.take()
	if err != nil {
		t.Fatalf("no database can be made: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Exec(name, "drop schema if exists imagegend cascade"); err != nil {
			t.Error(err)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.free = append(s.free, name)
	})
	return s.Address(name)
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

// Port is where the server listens, on 127.0.0.1.
func (s *Server) Port() int { return s.port }

// Address is the address of a database, for the superuser.
func (s *Server) Address(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

// Exec runs a statement in a database, as the superuser.
func (s *Server) Exec(database, sql string) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.Address(database))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, sql)
	return err
}

// programs is the directory of the server's programs; "": there is none.
func programs() string {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(initdb); err == nil {
			return filepath.Dir(real)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

func newServer() (*Server, error) {
	who, err := account()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(memory, "postgrestest")
	if err != nil {
		dir, err = os.MkdirTemp("", "postgrestest")
	}
	if err != nil {
		return nil, err
	}
	s := new(Server)
	if s.port, err = freePort(); err == nil {
		err = s.run(dir, who)
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return s, nil
}

// account is as whom the server runs, which refuses root.
func account() (*syscall.SysProcAttr, error) {
	group := &syscall.SysProcAttr{Setpgid: true} // a signal to the tests' own ends it by way of them
	if os.Getuid() != 0 {
		return group, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("it does not run as root: %w", err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	group.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return group, nil
}

// script runs a server until its standard input ends, which it does with the test binary, however that ends.
const script = `
"$1/initdb" -D "$2/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$2/initdb.log" 2>&1 || { cat "$2/initdb.log" >&2; exit 1; }
"$1/postgres" -D "$2/data" -p "$3" -k "$2" -c listen_addresses=127.0.0.1 -c max_connections=200 -c max_wal_size=128MB >"$2/log" 2>&1 &
server=$!
read -r _
kill -INT $server
wait $server
rm -rf "$2"
`

func (s *Server) run(dir string, who *syscall.SysProcAttr) error {
	if who.Credential != nil {
		if err := os.Chown(dir, int(who.Credential.Uid), int(who.Credential.Gid)); err != nil {
			return err
		}
	}
	cmd := exec.Command("/bin/sh", "-c", script, "postgrestest", programs(), dir, strconv.Itoa(s.port))
	cmd.SysProcAttr, cmd.Dir, cmd.Stderr = who, "/", os.Stderr
	alive, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.alive = alive
	return s.answers(dir)
}

func (s *Server) answers(dir string) (err error) {
	for end := time.Now().Add(startFor); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = s.Exec("postgres", "select"); err == nil {
			return nil
		}
	}
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	return fmt.Errorf("%w\n%s", err, log)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
