//go:build unix

package postgres_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// Nothing of a session is relied on: behind PgBouncer in transaction mode each transaction has another one.
func TestPgBouncer(t *testing.T) {
	s := postgrestest.Start(t)
	through := pgBouncer(t, s)
	storagetest.Joint(t, func(t *testing.T) (imagegen.JointStore, imagegen.CreditAdmin) {
		db := open(t, through(s.Database(t)))
		return db, db
	})
}

// pgBouncer starts one, and says how addresses lead through it.
func pgBouncer(t *testing.T, s *postgrestest.Server) (through func(url string) string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			t.Skip("there is no PgBouncer here: install Debian's package pgbouncer")
		}
	}
	is := is.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	port := l.Addr().(*net.TCPAddr).Port
	is.NoErr(l.Close())
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "users"), []byte(`"postgres" ""`), 0o644))
	config := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
		"auth_type = trust\nauth_file = %s/users\npool_mode = transaction\nserver_idle_timeout = 1\nserver_lifetime = 1\nignore_startup_parameters = extra_float_digits\n", s.Port(), port, dir)
	is.NoErr(os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o644))
	cmd := exec.Command(program, filepath.Join(dir, "config"))
	if os.Getuid() == 0 {
		cmd.SysProcAttr = asPostgres(t, dir)
	}
	is.NoErr(cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	eventually(t, "PgBouncer answers", func() bool {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return func(url string) string {
		return strings.Replace(url, ":"+strconv.Itoa(s.Port())+"/", ":"+strconv.Itoa(port)+"/", 1)
	}
}

// asPostgres has a program run as the user postgres, who may look into a directory.
func asPostgres(t *testing.T, dir string) *syscall.SysProcAttr {
	is := is.New(t)
	u, err := user.Lookup("postgres")
	is.NoErr(err)
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	is.NoErr(err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	is.NoErr(err)
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		is.NoErr(os.Chmod(d, 0o755))
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
