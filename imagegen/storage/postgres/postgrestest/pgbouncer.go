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
	"time"
)

// pgBouncer stands in front of a server in transaction mode. It ends with the test binary, as the server does.
type pgBouncer struct {
	port  int
	alive io.WriteCloser // held, so that it is not closed as garbage
}

// pooling ends PgBouncer when its standard input ends. Connections to the server live for a second, so that a
// session is never the same for long; and they are few for each database, since the server has many.
const pooling = `
cat >"$2/pgbouncer.ini" <<END
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
ignore_startup_parameters = extra_float_digits
END
echo '"postgres" ""' >"$2/users"
"$4" "$2/pgbouncer.ini" >>"$2/pgbouncer.log" 2>&1 &
read -r _
kill -KILL $!
`

// Pooled returns the way to an address of the server through PgBouncer in transaction mode, behind which each transaction
// may have another session. It is started the first time.
func (s *Server) Pooled(t TB, url string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pooler == nil {
		p, err := s.pool()
		if err != nil {
			t.Fatalf("PgBouncer does not start: %v", err)
		}
		s.pooler = p
	}
	return strings.Replace(url, ":"+strconv.Itoa(s.port)+"/", ":"+strconv.Itoa(s.pooler.port)+"/", 1)
}

// pgBouncers is PgBouncer's program; "": there is none.
func pgBouncers() string {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} { // which is not in everybody's PATH
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	return ""
}

func (s *Server) pool() (*pgBouncer, error) {
	program := pgBouncers()
	if program == "" {
		return nil, errors.New("it is not here: install Debian's package pgbouncer")
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := s.command(pooling, program, strconv.Itoa(port))
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &pgBouncer{port, alive}, answersAt(port)
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
