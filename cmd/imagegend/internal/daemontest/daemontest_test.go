package daemontest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

func TestMain(m *testing.M) { os.Exit(daemontest.Main(m)) }

// The images of a user outlive the process that made them.
func TestDaemon(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	d := daemontest.Start(t, daemontest.Options{DataDir: dir})
	is.Equal(d.DataDir, dir)
	is.True(d.Startup > 0)
	is.True(d.RSS() > 1<<20)
	is.True(d.OpenFiles() > 3)
	_, key := d.NewUser(2)
	answer := d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox"}))
	is.Equal(answer.Status, http.StatusOK)
	var made struct{ ID, Status string }
	answer.Into(t, &made)
	is.Equal(made.Status, "succeeded")
	d.Kill()
	is.Equal(d.ExitCode(), -1)

	d = daemontest.Start(t, daemontest.Options{DataDir: dir})
	get := daemontest.Request{Path: "/api/v1/generations/" + made.ID, Key: key}
	is.Equal(d.Call(get).Status, http.StatusOK)
	get.Key = ""
	is.Equal(d.Call(get).Code(), "missingApiKey")
	is.Equal(d.Terminate(10*time.Second), 0)
}

func TestCommand(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	name, _ := d.NewUser(0)
	stdout, stderr, status := d.Command("user", "create", name)
	is.Equal(stdout, "")
	is.True(strings.Contains(stderr, name))
	is.Equal(status, 1)
}

// A daemon that cannot start says why, and ends.
func TestLaunch(t *testing.T) {
	is := is.New(t)
	d := daemontest.Launch(t, daemontest.Options{Args: []string{"--no-such-flag"}})
	is.Equal(d.Wait(10*time.Second), 2)
	is.True(strings.Contains(d.Output(), "no-such-flag"))
}

// complaints counts what a witness complains of.
type complaints struct {
	testing.TB
	n int
}

func (c *complaints) Errorf(string, ...any) { c.n++ }

// Witnesses find what they look for.
func TestWitnesses(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	_, key := d.NewUser(10)
	before := daemontest.Leftovers(t, d.DataDir)
	is.Equal(d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "size": "48x32"})).
		Status, http.StatusOK)
	d.AllEnded(t, key, time.Minute)
	d.Settled(t, key, 10)
	d.Clean(t)
	daemontest.NoLeftovers(t, before, d.DataDir)
	is.Equal(len(d.MustGenerations(t, key, "succeeded")), 1)
	is.Equal(len(d.MustGenerations(t, key, "failed")), 0)

	c := &complaints{TB: t}
	d.Settled(c, key, 11)
	is.Equal(c.n, 1)
	images, err := filepath.Glob(filepath.Join(d.DataDir, "images", "*", "*"))
	is.NoErr(err)
	is.True(len(images) > 0)
	for _, file := range images {
		is.NoErr(os.Remove(file))
	}
	d.Clean(c)
	is.Equal(c.n, 2)
	left := daemontest.Leftovers(t, d.DataDir)
	is.NoErr(os.WriteFile(filepath.Join(d.DataDir, "left"), nil, 0o600))
	is.Equal(len(daemontest.Leftovers(t, d.DataDir)), len(left)+1)
}
