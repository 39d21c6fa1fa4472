package main_test

import (
	"bufio"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// A service goes from its directory to a database and a bucket, and back to another directory: users, keys, credits
// and images are what they were, though the command is killed at each of its steps. The tables lie in a schema with a
// name of its own, which imagegend migrate made.
func TestMove(t *testing.T) {
	is := is.New(t)
	const schema = postgrestest.Unusual
	database, images := postgrestest.Start(t).Database(t), s3test.Start(t).Address()
	for _, c := range [][2]string{{"--status", "0001_begin  missing"}, {"--json", `"version":`},
		{"--status", "0001_begin  applied"}} {
		stdout, _, status := command(t, t.TempDir(), nil, "migrate", "--database", database,
			"--database-schema", schema, c[0])
		is.Equal(status, 0)
		says(t, stdout, c[1])
	}
	d := daemontest.Start(t, daemontest.Options{})
	_, key := d.NewUser(10)
	var made daemontest.Generation
	d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "size": "64x64"})).
		Into(t, &made)

	there := []string{"move", "--data-dir", d.DataDir, "--to-database", database, "--to-database-schema", schema,
		"--to-images", images}
	_, stderr, status := command(t, t.TempDir(), nil, there...)
	is.Equal(status, 1)
	says(t, stderr, "in use")
	is.Equal(d.Terminate(drainLimit), 0)
	moveKilled(t, there)
	_, stderr, status = command(t, t.TempDir(), nil, "audit", "--data-dir", d.DataDir)
	is.Equal(status, 1)
	says(t, stderr, "was moved to postgres://", schema, "s3://")

	env := []string{"IMAGEGEND_DATABASE=" + database, "IMAGEGEND_DATABASE_SCHEMA=" + schema,
		"IMAGEGEND_IMAGES=" + images}
	node := daemontest.Start(t, daemontest.Options{Env: env})
	is.Equal(node.MustBalance(t, key), 9)
	is.Equal(node.MustGeneration(t, key, made.ID).Status, "succeeded")
	node.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "another", "size": "64x64"})).
		Into(t, &made)
	is.Equal(node.Terminate(drainLimit), 0)

	back := filepath.Join(t.TempDir(), "back")
	moveKilled(t, []string{"move", "--database", database, "--database-schema", schema,
		"--images", images, "--to-data-dir", back})
	_, stderr, status = command(t, t.TempDir(), env, "user", "list")
	is.Equal(status, 1)
	says(t, stderr, "was moved to "+back)
	home := daemontest.Start(t, daemontest.Options{DataDir: back})
	is.Equal(home.MustBalance(t, key), 8)
	found := home.MustGeneration(t, key, made.ID)
	is.Equal(home.Call(daemontest.Request{Path: found.Images[0].URL}).Status, http.StatusOK)
	home.Clean(t)
}

// moveKilled runs a move that is killed at each of its steps, and then once more to its end.
func moveKilled(t *testing.T, args []string) {
	t.Helper()
	is := is.New(t)
	for _, step := range []string{"auditing the source", "copying", "comparing", "auditing the target"} {
		c := exec.Command(daemontest.Build(t), args...)
		c.Dir = t.TempDir()
		stderr, err := c.StderrPipe()
		is.NoErr(err)
		is.NoErr(c.Start())
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if lines.Text() == step {
				is.NoErr(c.Process.Signal(syscall.SIGKILL))
			}
		}
		_ = c.Wait() // it says that it was killed
	}
	_, stderr, status := command(t, t.TempDir(), nil, args...)
	is.True(status == 0 || strings.Contains(stderr, "was moved")) // or the last kill came too late
}
