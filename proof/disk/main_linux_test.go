package disk_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// role says, in the environment, what a process of this test binary is to be. Who serves a
// filesystem must not be who maps a file on it: a page fault would wait for itself.
const role = "PROOF_DISK_ROLE"

var roles = map[string]func(args []string) error{
	"device":   serveDevice,
	"faults":   serveFaults,
	"load":     runLoad,
	"scenario": runScenario,
}

func TestMain(m *testing.M) {
	run, child := roles[os.Getenv(role)]
	if !child {
		os.Exit(m.Run())
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(statusOrphaned)
	}()
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(statusError)
	}
	os.Exit(0)
}

// How a child ends.
const (
	statusError    = 1
	statusOrphaned = 3
	statusDisk     = 74 // as the daemon's, when the disk fails under a commit
)

// child is a process of this test binary. It ends when its parent does, or closes in.
type child struct {
	cmd    *exec.Cmd
	in     io.Closer
	out    *bufio.Reader
	stderr bytes.Buffer
}

func spawn(name string, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(self, args...)}
	c.cmd.Env = append(os.Environ(), role+"="+name)
	c.cmd.Stderr = &c.stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReader(out)
	return c, c.cmd.Start()
}

const ready = "ready\n"

// serve starts a child that serves a filesystem, and waits until it does.
func serve(name string, args ...string) (*child, error) {
	c, err := spawn(name, args...)
	if err != nil {
		return nil, err
	}
	if line, err := c.out.ReadString('\n'); line != ready {
		_, ended := c.wait()
		return nil, fmt.Errorf("%s does not serve: %q: %w", name, line, errors.Join(err, ended))
	}
	return c, nil
}

// longest is how long a child may take that is waited for.
const longest = time.Minute

// wait returns the child's status, and as an error what it complained of.
func (c *child) wait() (status int, err error) {
	defer time.AfterFunc(longest, func() { _ = c.cmd.Process.Kill() }).Stop()
	_, _ = io.Copy(io.Discard, c.out)
	err = c.cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return -1, err
	}
	if status = c.cmd.ProcessState.ExitCode(); status != 0 {
		return status, fmt.Errorf("%v: %s", c.cmd.ProcessState, c.stderr.String())
	}
	return 0, nil
}

// dismiss ends a child that serves.
func (c *child) dismiss() {
	_ = c.in.Close()
	_, _ = c.wait()
}
