package daemontest

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startLimit is how long a daemon may take to get ready.
const startLimit = 30 * time.Second

// Options changes how a daemon is run. The zero value runs it on a new directory.
type Options struct {
	Args    []string // further arguments of serve
	Env     []string // further variables, as KEY=value; those named IMAGEGEND_… are not inherited
	DataDir string   // "": a new one that is removed with the test
	Dev     bool     // run with --dev; then DataDir is not used, and Command and Admin have no data to work on
	// the models are named in Args, or are where serve looks for them; otherwise --models fake is added
	Models  bool
	TLS     *tls.Config // for the test's calls, if the daemon speaks TLS
	Files   int         // how many files it may have open; 0: as many as the test
	Program string      // "": that of Build
}

// Daemon is one process that serves. Its fields may be read once Start has returned.
type Daemon struct {
	URL     string // where it listens, without a slash at the end
	DataDir string
	Pid     int
	Startup time.Duration // from the start of the process until it was ready

	tb     testing.TB
	binary string
	cmd    *exec.Cmd
	env    []string
	output *Output
	client *http.Client
	exited chan struct{} // closed when the process has ended and was waited for
}

// Start runs a daemon on a free port and returns when it is ready. The daemon is killed when the test ends, and the
// end of its output is logged if the test failed.
func Start(tb testing.TB, o Options) *Daemon {
	tb.Helper()
	d := Launch(tb, o)
	if err := d.Ready(); err != nil {
		tb.Fatalf("daemontest: %v; it wrote:\n%s", err, d.Output())
	}
	return d
}

// Launch is Start without the wait, so URL is not known yet. It is for a daemon that is meant to fail, or that Ready
// waits for later.
func Launch(tb testing.TB, o Options) *Daemon {
	tb.Helper()
	d := &Daemon{tb: tb, binary: o.Program, env: environment(o.Env), output: new(Output), client: newClient(o.TLS),
		exited: make(chan struct{})}
	// Port 0 takes a free port, which Ready reads from the announcement.
	args := []string{"serve", "--addr", "127.0.0.1:0"}
	if o.Dev {
		args = append(args, "--dev")
	} else {
		d.DataDir = cmp.Or(o.DataDir, tb.TempDir())
		args = append(args, "--data-dir", d.DataDir)
	}
	if !o.Dev && !o.Models {
		args = append(args, "--models", "fake")
	}
	if d.binary == "" {
		d.binary = Build(tb)
	}
	command := append([]string{d.binary}, append(args, o.Args...)...)
	// The shell lowers its own limit and then becomes the daemon, so Pid is that of the daemon.
	if o.Files > 0 {
		command = append([]string{"sh", "-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(o.Files)}, command...)
	}
	d.cmd = exec.Command(command[0], command[1:]...)
	d.cmd.Env, d.cmd.Stdout, d.cmd.Stderr = d.env, d.output, d.output
	began := time.Now()
	if err := d.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	d.Startup, d.Pid = time.Since(began), d.cmd.Process.Pid
	go func() {
		d.cmd.Wait() // its error is the exit status, which ProcessState keeps
		close(d.exited)
	}()
	tb.Cleanup(d.cleanup)
	return d
}

// environment returns the variables of a daemon: those of the test, without IMAGEGEND_…, which are settings of the user
// who runs the tests, and then the further ones.
func environment(further []string) []string {
	ours := func(s string) bool { return strings.HasPrefix(s, "IMAGEGEND_") }
	return append(slices.DeleteFunc(os.Environ(), ours), further...)
}

// cleanup ends the process, and logs the end of its output if the test failed.
func (d *Daemon) cleanup() {
	if d.DataDir == "" { // with --dev only the daemon itself knows what to remove
		d.Signal(syscall.SIGTERM)
		select {
		case <-d.exited:
		case <-time.After(5 * time.Second):
		}
	}
	d.Kill()
	d.client.CloseIdleConnections()
	if written := d.Output(); d.tb.Failed() {
		const most = 8 << 10
		d.tb.Logf("the daemon, process %d, wrote at last:\n%s", d.Pid, written[max(0, len(written)-most):])
	}
}

var (
	address   = regexp.MustCompile(`https?://127\.0\.0\.1:\d+`)
	announced = regexp.MustCompile(`(?m)^ready in |"msg":"ready"`)
)

// Ready waits until the daemon has announced itself, which it does last when it starts, and then answers that it is
// ready. It sets URL and completes Startup. The error says why the daemon is not ready. Start calls it; after Launch
// a test may.
func (d *Daemon) Ready() error {
	limit := time.After(startLimit)
	began := time.Now()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for {
		written := d.Output()
		// The address is looked for behind the announcement, since lines before it may name upstreams on this machine.
		if at := announced.FindStringIndex(written); at != nil {
			d.URL = address.FindString(written[at[0]:])
		}
		if d.URL != "" && d.ready() {
			d.Startup += time.Since(began)
			return nil
		}
		select {
		case <-d.exited:
			return fmt.Errorf("the daemon exited with status %d before it was ready", d.ExitCode())
		case <-limit:
			return fmt.Errorf("the daemon was not ready within %s", startLimit)
		case <-poll.C:
		}
	}
}

// ready reports whether the daemon takes work at present.
func (d *Daemon) ready() bool {
	r, err := d.client.Get(d.URL + "/readyz")
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// Output is all that the process has written up to now, to standard output and standard error.
func (d *Daemon) Output() string { return d.output.String() }

// Signal sends a signal.
func (d *Daemon) Signal(s os.Signal) error { return d.cmd.Process.Signal(s) }

// Kill ends the process as kill -9 does and waits until it is gone. A process that has ended already is not an error.
func (d *Daemon) Kill() {
	d.Signal(syscall.SIGKILL)
	<-d.exited
}

// Terminate sends SIGTERM, waits and returns the exit status. It fails the test if the process has not ended within
// the limit.
func (d *Daemon) Terminate(limit time.Duration) (status int) {
	d.tb.Helper()
	if err := d.Signal(syscall.SIGTERM); err != nil {
		d.tb.Fatal(err)
	}
	return d.Wait(limit)
}

// Wait waits for the process to end by itself and returns the exit status, -1 if a signal ended it. It fails the test
// if the process has not ended within the limit.
func (d *Daemon) Wait(limit time.Duration) (status int) {
	d.tb.Helper()
	select {
	case <-d.exited:
	case <-time.After(limit):
		d.tb.Fatalf("daemontest: process %d still runs after %s", d.Pid, limit)
	}
	return d.ExitCode()
}

// ExitCode is the status of a process that has ended, -1 if a signal ended it.
func (d *Daemon) ExitCode() int { return d.cmd.ProcessState.ExitCode() }
