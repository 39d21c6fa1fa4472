//go:build unix

package postgrestest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Pooler is a PgBouncer in transaction mode in front of a server: each transaction may have another session of that
// server. It ends with the test binary, however that ends.
type Pooler struct {
	server *cluster
	port   int

	alive io.WriteCloser  // it ends with it; held, so that it is not closed as garbage
	ended <-chan struct{} // closed once it has
}

// pooling runs PgBouncer until its standard input ends. Connections to the server live for a second, so that a
// session is never the same for long; and they are few for each database, since the server has many.
const pooling = `
cat >"$2/pgbouncer-$5.ini" <<END
[databases]
* = host=127.0.0.1 port=$3
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $5
unix_socket_dir =
auth_type = trust
auth_file = $2/users
pool_mode = transaction
default_pool_size = 8
max_client_conn = 2000
server_idle_timeout = 1
server_lifetime = 1
server_login_retry = 1
ignore_startup_parameters = extra_float_digits
END
echo '"postgres" ""' >"$2/users"
"$4" "$2/pgbouncer-$5.ini" >>"$2/pgbouncer-$5.log" 2>&1 &
read -r _
kill -KILL $!
wait
`

// Pooled returns the way to an address of the server through a Pooler, which is started the first time.
func (s *Server) Pooled(t TB, url string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pooler == nil {
		p, err := newPooler(s.cluster)
		if err != nil {
			t.Fatalf("PgBouncer does not start: %v", err)
		}
		s.pooler = p
	}
	return strings.Replace(url, ":"+strconv.Itoa(s.port)+"/", ":"+strconv.Itoa(s.pooler.port)+"/", 1)
}

// Pool starts a Pooler in front of the one of the two servers that listens at a port. It ends with the test, which is
// skipped where there is no PgBouncer.
func (p *Pair) Pool(t testing.TB, port int) *Pooler {
	t.Helper()
	if pgBouncers() == "" {
		t.Skip(noPgBouncer)
	}
	server := p.primary
	if port != server.port {
		server = p.standby
	}
	pooler, err := newPooler(server)
	check(t, err)
	t.Cleanup(pooler.Kill)
	return pooler
}

const noPgBouncer = "there is no PgBouncer here: install Debian's package pgbouncer"

// pgBouncers is PgBouncer's program; "": there is none.
func pgBouncers() string {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} { // which is not in everybody's PATH
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	return ""
}

func newPooler(server *cluster) (*Pooler, error) {
	if pgBouncers() == "" {
		return nil, errors.New(noPgBouncer)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	p := &Pooler{server: server, port: port}
	return p, p.Start()
}

// Port is where it listens, on 127.0.0.1.
func (p *Pooler) Port() int { return p.port }

// Start starts it again after a Kill, at the same port, and waits until it listens.
func (p *Pooler) Start() error {
	var err error
	if p.alive, p.ended, err = begin(p.server.command(pooling, pgBouncers(), strconv.Itoa(p.port))); err != nil {
		return err
	}
	return answersAt(p.port)
}

// Kill ends it as a crash does. It may be called again.
func (p *Pooler) Kill() {
	_ = p.alive.Close()
	<-p.ended
}

// answersAt waits until somebody listens.
func answersAt(port int) (err error) {
	for end := time.Now().Add(startFor); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var c net.Conn
		if c, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return c.Close()
		}
	}
	return err
}
