package conformance_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// startDaemon runs the built program.
func startDaemon(t *testing.T, s settings) *service {
	t.Helper()
	args := append(s.flags(), "--log-format", "json")
	if s.models != "" {
		args = append(args, "--models", s.modelsFile(t))
	}
	return serviceOf(daemontest.Start(t, daemontest.Options{Args: args}))
}

// serviceOf is a daemon as a service.
func serviceOf(d *daemontest.Daemon) *service {
	return &service{url: d.URL, operator: commands{d}, start: startDaemon, log: d.Output}
}

// commands is the operator of a daemon, who types commands.
type commands struct{ daemon *daemontest.Daemon }

// run runs a command that succeeds and returns its standard output.
func (c commands) run(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, status := c.daemon.Command(args...)
	if status != 0 {
		t.Fatalf("imagegend %s: exit status %d\n%s%s", strings.Join(args, " "), status, stdout, stderr)
	}
	return stdout
}

func (c commands) createUser(t *testing.T, name string) {
	t.Helper()
	c.run(t, "user", "create", name)
}

func (c commands) setAccountType(t *testing.T, user, accountType string) {
	t.Helper()
	c.run(t, "user", "set", user, "--account-type", accountType)
}

func (c commands) disableUser(t *testing.T, user string) {
	t.Helper()
	c.run(t, "user", "disable", user)
}

func (c commands) createKey(t *testing.T, user string, lifetime time.Duration) string {
	t.Helper()
	args := []string{"key", "create", "--user", user}
	if lifetime != 0 {
		args = append(args, "--expires-in", lifetime.String())
	}
	return strings.TrimSpace(c.run(t, args...))
}

func (c commands) revokeKey(t *testing.T, user, raw string) {
	t.Helper()
	var keys []struct{ ID, Prefix string }
	if err := json.Unmarshal([]byte(c.run(t, "key", "list", "--user", user, "--json")), &keys); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if strings.HasPrefix(raw, k.Prefix) {
			c.run(t, "key", "revoke", k.ID)
			return
		}
	}
	t.Fatal("there is no such key")
}

func (c commands) grant(t *testing.T, user string, credits int, lifetime time.Duration) {
	t.Helper()
	args := []string{"credit", "grant", "--user", user, strconv.Itoa(credits)}
	if lifetime != 0 {
		args = append(args, "--expires-in", lifetime.String())
	}
	c.run(t, args...)
}
