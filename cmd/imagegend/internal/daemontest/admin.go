package daemontest

import (
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// Command runs an administrative command of the daemon's program on the daemon's directory, whether or not the daemon
// runs, and returns what the command wrote and its exit status. It fails the test only if the program does not start.
func (d *Daemon) Command(args ...string) (stdout, stderr string, status int) {
	d.tb.Helper()
	c := exec.Command(d.binary, append(args, "--data-dir", d.DataDir)...)
	c.Env = d.env
	return Run(d.tb, c)
}

// Run runs a command, and returns what it wrote and its exit status. It fails the test only if the program does not
// start.
func Run(tb testing.TB, c *exec.Cmd) (stdout, stderr string, status int) {
	tb.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	// An exit status other than 0 is an error of Run too, but one for the caller to judge.
	if err := c.Run(); c.ProcessState == nil {
		tb.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// Admin is Command for one that must succeed. It returns what the command wrote to standard output.
func (d *Daemon) Admin(args ...string) string {
	d.tb.Helper()
	stdout, stderr, status := d.Command(args...)
	if status != 0 {
		d.tb.Fatalf("imagegend %s: exit status %d\n%s%s", strings.Join(args, " "), status, stdout, stderr)
	}
	return stdout
}

// users numbers the users of all daemons of a test process, so that no name comes twice.
var users atomic.Int64

// NewUser makes a user with so many credits, which may be 0, and an API key for it.
func (d *Daemon) NewUser(credits int) (user, key string) {
	d.tb.Helper()
	user = fmt.Sprintf("user-%d", users.Add(1))
	create := []string{"user", "create", user}
	if credits > 0 {
		create = append(create, "--credits", strconv.Itoa(credits))
	}
	d.Admin(create...)
	return user, strings.TrimSpace(d.Admin("key", "create", "--user", user))
}
