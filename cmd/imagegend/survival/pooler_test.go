package survival_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// pooler is a PgBouncer in transaction mode.
type pooler struct {
	program, config string
	address         string
	process         *exec.Cmd
}

// startPooler starts one before a server, which ends with the test.
func startPooler(t *testing.T, server int) *pooler {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			t.Skip("there is no PgBouncer here: install Debian's package pgbouncer")
		}
	}
	dir, err := os.MkdirTemp("", "pooler") // who runs it may look into no directory of the test's
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	check(t, os.Chmod(dir, 0o755))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	p := &pooler{program: program, config: filepath.Join(dir, "config"), address: l.Addr().String()}
	check(t, l.Close())
	check(t, os.WriteFile(filepath.Join(dir, "users"), []byte(`"postgres" ""`), 0o644))
	check(t, os.WriteFile(p.config, fmt.Appendf(nil, "[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
		"auth_type = trust\nauth_file = %s/users\npool_mode = transaction\nignore_startup_parameters = extra_float_digits\nserver_login_retry = 1\n", server, p.port(), dir), 0o644))
	p.start(t)
	t.Cleanup(p.kill)
	return p
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *pooler) port() int {
	_, port, _ := net.SplitHostPort(p.address)
	n, _ := strconv.Atoi(port) // the kernel chose it
	return n
}

func (p *pooler) start(t *testing.T) {
	t.Helper()
	p.process = exec.Command(p.program, "-q", p.config)
	p.process.SysProcAttr = notAsRoot(t)
	check(t, p.process.Start())
	daemontest.Eventually(t, time.Minute, "PgBouncer answers", func() bool {
		c, err := net.DialTimeout("tcp", p.address, time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func (p *pooler) kill() {
	p.process.Process.Kill()
	p.process.Wait()
}

// notAsRoot has a program that refuses root run as the user postgres.
func notAsRoot(t *testing.T) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	check(t, err)
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	check(t, err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	check(t, err)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
