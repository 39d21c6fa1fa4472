//go:build linux

package main_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// A disk that fails under a commit: the caller learns that the outcome is unknown, the process ends
// with status 74, and the next one finds the books in order.
func TestDiskFailsUnderACommit(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	_, key := d.NewUser(10)
	request := daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "size": "64x64"}).
		With("Idempotency-Key", "fox-1")
	failDisk(t, d)
	answer := d.Call(request)
	is.Equal(answer.Status, 500)
	is.Equal(answer.Code(), "internalError")
	says(t, string(answer.Body), "outcome unknown", "same Idempotency-Key")
	is.Equal(d.Wait(drainLimit), 74)
	says(t, d.Output(), "the disk failed under a commit", "imagegend audit")

	again := daemontest.Start(t, daemontest.Options{DataDir: d.DataDir})
	is.Equal(again.Call(request).Status, 200)
	says(t, again.Admin("audit"), "clean")
}

// A command beside the server ends with the same status as the server.
func TestDiskFailsUnderACommandOfTheServer(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	user, _ := d.NewUser(10)
	failDisk(t, d)
	stdout, stderr, status := d.Command("credit", "grant", "--user", user, "5")
	is.Equal(status, 74)
	is.Equal(stdout, "")
	is.Equal(strings.Count(stderr, "\n"), 1)
	says(t, stderr, "the disk failed under a commit", "imagegend audit")
	is.Equal(d.Wait(drainLimit), 74)
}

// failDisk has every further byte of a file refused to a server.
func failDisk(t *testing.T, d *daemontest.Daemon) {
	t.Helper()
	nothing := unix.Rlimit{Cur: 1, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(d.Pid, unix.RLIMIT_FSIZE, &nothing, nil); err != nil {
		t.Fatal(err)
	}
}

// A command on the database, without a server, ends with the same status.
func TestDiskFailsUnderACommand(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	is.Equal(d.Terminate(drainLimit), 0)
	stdout, stderr, status := limited(t, "user", "create", "alice", "--data-dir", d.DataDir)
	is.Equal(status, 74)
	is.Equal(stdout, "")
	says(t, stderr, "the disk failed under a commit", "imagegend audit")
	says(t, d.Admin("audit"), "clean")
}

// limited runs the program where every further byte of a file is refused.
func limited(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return daemontest.Run(t,
		exec.Command("sh", append([]string{"-c", `ulimit -f 0 && exec "$0" "$@"`, daemontest.Build(t)}, args...)...))
}

// An audit finds what was changed behind the back of the service: while it runs and without it.
func TestAuditFindsDamage(t *testing.T) {
	found := func(t *testing.T, d *daemontest.Daemon, remedy string) {
		t.Helper()
		is := is.New(t)
		stdout, stderr, status := d.Command("audit")
		is.Equal(status, 3)
		says(t, stdout, "RULE")
		says(t, stderr, "violation", remedy)
		stdout, _, status = d.Command("audit", "--json")
		is.Equal(status, 3)
		says(t, stdout, `"rule":`, `"subject":`, `"detail":`)
	}
	t.Run("image", func(t *testing.T) {
		is := is.New(t)
		d := daemontest.Start(t, daemontest.Options{})
		_, key := d.NewUser(10)
		is.Equal(d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox",
			"size": "64x64"})).Status, 200)
		damageImage(t, filepath.Join(d.DataDir, "images"))
		found(t, d, "put them back from a backup, or erase their generations")
		is.Equal(d.Terminate(drainLimit), 0)
		found(t, d, "put them back from a backup, or erase their generations")
	})
	t.Run("ledger", func(t *testing.T) {
		is := is.New(t)
		d := daemontest.Start(t, daemontest.Options{})
		d.NewUser(10)
		is.Equal(d.Terminate(drainLimit), 0)
		damageLedger(t, filepath.Join(d.DataDir, "imagegen.db"))
		found(t, d, "restore the last good backup")
	})
}

// damageImage changes one byte of an image.
func damageImage(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		image, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		image[len(image)/2]++
		if err := os.WriteFile(path, image, 0o600); err != nil {
			return err
		}
		return fs.SkipAll
	})
	if err != nil {
		t.Fatal(err)
	}
}

// damageLedger takes one value out of the books.
func damageLedger(t *testing.T, path string) {
	t.Helper()
	is := is.New(t)
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second})
	is.NoErr(err)
	is.NoErr(db.Update(func(tx *bbolt.Tx) error {
		name, _ := tx.Cursor().Seek([]byte("ledger."))
		first, _ := tx.Bucket(name).Cursor().First()
		return tx.Bucket(name).Delete(first)
	}))
	is.NoErr(db.Close())
}
