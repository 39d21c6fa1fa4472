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
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// cluster is a directory of PostgreSQL's and the server that runs on it.
type cluster struct {
	dir  string
	port int
	wal  string // how much of it may lie there before a checkpoint
	as   *syscall.SysProcAttr

	alive io.WriteCloser  // the server ends with it; held, so that it is not closed as garbage
	ended <-chan struct{} // closed once it has
}

// startFor is how long a server may take to answer, on a machine that is busy.
const startFor = time.Minute

// shm is where files lie in memory, if there is such a directory: no test is about the disk.
const shm = "/dev/shm"

// newCluster makes an empty directory in memory, or else on the disk, and chooses a port.
func newCluster(name string) (*cluster, error) {
	if c, err := newClusterIn(shm, name, "128MB"); err == nil {
		return c, nil
	}
	return newClusterIn("", name, "128MB")
}

func newClusterIn(parent, name, wal string) (*cluster, error) {
	as, err := account()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, name)
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, wal: wal, as: as}
	if c.port, err = freePort(); err == nil && as.Credential != nil {
		err = os.Chown(dir, int(as.Credential.Uid), int(as.Credential.Gid))
	}
	if err != nil {
		c.remove()
		return nil, err
	}
	return c, nil
}

func (c *cluster) remove() { _ = os.RemoveAll(c.dir) }

// Port is where the server listens, on 127.0.0.1.
func (c *cluster) Port() int { return c.port }

// Address is the address of a database, for the superuser.
func (c *cluster) Address(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", c.port, database)
}

// Exec runs a statement in a database, as the superuser.
func (c *cluster) Exec(database, sql string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.Address(database))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// programsVariable is the variable that names the directory of the server's programs, where several versions are at
// hand. If the tests run as root, the user postgres must be able to read it.
const programsVariable = "IMAGEGEN_POSTGRES_BIN"

// programs is the directory of the server's programs; "": there is none.
func programs() string {
	if named := os.Getenv(programsVariable); named != "" {
		return named
	}
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

// initialise fills the directory.
func (c *cluster) initialise() error {
	return c.shell(`"$1/initdb" -D "$2/data" -U postgres -A trust -E UTF8 --locale=C --no-sync`)
}

// shell runs a script whose arguments are the programs' directory, the cluster's, its port, and what is given.
func (c *cluster) shell(script string, args ...string) error {
	out, err := c.command(script, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

func (c *cluster) command(script string, args ...string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, "postgrestest", programs(), c.dir,
		strconv.Itoa(c.port)}, args...)...)
	cmd.SysProcAttr, cmd.Dir = c.as, "/"
	return cmd
}

// serve runs a server until its standard input names a signal for it, or ends, which it does with the test binary,
// however that ends. Then its directory goes too.
const serve = `
"$1/postgres" -D "$2/data" -p "$3" -k "$2" -c listen_addresses=127.0.0.1 -c max_connections=200 -c max_wal_size="$4" >>"$2/log" 2>&1 &
server=$!
read -r signal
kill -"${signal:-INT}" $server
wait $server
[ -n "$signal" ] || rm -rf "$2"
`

// start runs the server and waits until it answers.
func (c *cluster) start() error {
	cmd := c.command(serve, c.wal)
	cmd.Stderr = os.Stderr
	var err error
	if c.alive, c.ended, err = begin(cmd); err != nil {
		return err
	}
	return c.answers()
}

// begin starts a program that ends when its standard input does, or the test binary. ended is closed once it has.
func begin(cmd *exec.Cmd) (alive io.WriteCloser, ended <-chan struct{}, err error) {
	if alive, err = cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	if err = cmd.Start(); err != nil {
		return nil, nil, err
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its status is that of the signal
		close(done)
	}()
	return alive, done, nil
}

// stop ends the server by a signal, and waits until it has ended: INT for an orderly end, QUIT for that of a server
// that falls over.
func (c *cluster) stop(signal string) {
	_, _ = io.WriteString(c.alive, signal+"\n") // one that has ended cannot read it
	<-c.ended
}

func (c *cluster) answers() (err error) {
	for end := time.Now().Add(startFor); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = c.Exec("postgres", "select"); err == nil {
			return nil
		}
	}
	log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
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
