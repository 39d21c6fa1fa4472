package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// A daemon makes backups of its own accord, keeps as many as are configured, and records them in the audit trail, the
// log and its readiness.
func TestScheduledBackups(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := filepath.Join(t.TempDir(), "backups")
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--backup-to", dir, "--backup-every", "100ms",
		"--backup-keep", "2"}})
	d.NewUser(7)
	until(t, "backups are made", func() bool {
		return strings.Count(d.Output(), "a backup was made and verified") >= 5
	})
	until(t, "readiness warns of nothing", func() bool { // a slow machine was late with the first
		body, _ := d.FromSocket("/readyz")
		return strings.Contains(body, `"warnings":[]`)
	})
	trail := d.Admin("trail", "--act", "data.backup")
	says(t, trail, "service:", "begun", "done")
	is.Equal(d.Terminate(drainLimit), 0)
	archives, err := filepath.Glob(filepath.Join(dir, "imagegend-*.tar"))
	is.NoErr(err)
	is.True(len(archives) == 2 || len(archives) == 3) // it may have ended before it removed the oldest
	newest := archives[len(archives)-1]
	findings, _, _ := doctor(t, t.TempDir(), nil, append(fakeModels, "--data-dir", d.DataDir, "--backup-to", dir,
		"--backup-every", "1h")...)
	findings["backup"].finds(t, "ok", filepath.Base(newest), "")

	restored := filepath.Join(t.TempDir(), "restored")
	_, stderr, status := command(t, t.TempDir(), nil, "restore", newest, "--data-dir", restored)
	is.Equal(status, 0)
	says(t, stderr, "restored")
}

// A second server on a data directory says that the directory is in use, and nothing about backups.
func TestSecondServerWithBackups(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	data, args := t.TempDir(), []string{"--backup-to", filepath.Join(t.TempDir(), "backups"), "--backup-every", "1h"}
	daemontest.Start(t, daemontest.Options{DataDir: data, Args: args})
	second := daemontest.Launch(t, daemontest.Options{DataDir: data, Args: args})
	is.Equal(second.Wait(drainLimit), 1)
	says(t, second.Output(), "the data directory "+data+" is in use by another process")
	is.True(!strings.Contains(second.Output(), "backup"))
}

// restore refuses a directory that no command would use.
func TestRestoreWhereEverybodyCanWrite(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	archive, wide := filepath.Join(t.TempDir(), "b.tar"), filepath.Join(t.TempDir(), "wide")
	daemontest.Start(t, daemontest.Options{}).Admin("backup", archive)
	is.NoErr(os.Mkdir(wide, 0o700))
	is.NoErr(os.Chmod(wide, 0o777))
	_, stderr, status := command(t, t.TempDir(), nil, "restore", archive, "--data-dir", wide)
	is.Equal(status, 1)
	says(t, stderr, "nothing was restored: everybody can change the data directory", "chmod 700")
	left, err := os.ReadDir(wide)
	is.NoErr(err)
	is.Equal(len(left), 0)
}

// Backups go to a bucket too. While it is away the service runs and warns; each can be restored from there.
func TestScheduledBackupsInABucket(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	server := s3test.Start(t)
	address := server.Address()
	server.Stop()
	data, flags := t.TempDir(), []string{"--backup-to", address, "--backup-every", "100ms", "--backup-keep", "2"}
	d := daemontest.Start(t, daemontest.Options{DataDir: data, Args: flags})
	warned := func() bool {
		body, _ := d.FromSocket("/readyz")
		return strings.Contains(body, `"backup"`)
	}
	until(t, "it warns", warned)
	server.Resume(t)
	until(t, "backups are made", func() bool {
		return strings.Count(d.Output(), "a backup was made and verified") >= 3
	})
	until(t, "it warns no more", func() bool { return !warned() }) // readiness looks from time to time
	server.Stop()
	until(t, "it warns", warned)
	at := append(fakeModels, "--data-dir", data, "--backup-to", address, "--backup-every", "1h")
	is.Equal(d.Terminate(drainLimit), 0)
	findings, _, _ := doctor(t, t.TempDir(), nil, at...)
	findings["backup"].finds(t, "fail", "connection refused", "--backup-to")
	server.Resume(t)
	findings, _, _ = doctor(t, t.TempDir(), nil, at...)
	name, _, _ := strings.Cut(findings["backup"].Detail, " in ")
	findings["backup"].finds(t, "ok", "was verified", "")

	where, query, _ := strings.Cut(address, "?")
	restored := filepath.Join(t.TempDir(), "restored")
	_, stderr, status := command(t, t.TempDir(), nil, "restore", where+"/"+name+"?"+query, "--data-dir", restored)
	is.Equal(status, 0)
	says(t, stderr, "restored")
	_, stderr, status = command(t, t.TempDir(), nil, "restore", where+"/none.tar?"+query, "--data-dir", t.TempDir())
	is.Equal(status, 1)
	says(t, stderr, "there is no archive")
}

// Backups that would not outlive what they are backups of are refused.
func TestBackupsBelongElsewhere(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	data := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	is.NoErr(os.Symlink(data, link))
	for _, dir := range []string{data, filepath.Join(data, "backups"), filepath.Join(link, "a", "b")} {
		d := daemontest.Launch(t, daemontest.Options{DataDir: data, Args: []string{"--backup-to", dir}})
		is.Equal(d.Wait(drainLimit), 2)
		says(t, d.Output(), "lies in the data directory", "--backup-to")
	}
	d := daemontest.Launch(t, daemontest.Options{Args: []string{"--backup-to", "s3://bucket?endpont=x"}})
	is.Equal(d.Wait(drainLimit), 2)
	says(t, d.Output(), "--backup-to", "there is no parameter endpont")

	other := filepath.Join(t.TempDir(), "backups")
	daemontest.Start(t, daemontest.Options{Args: []string{"--backup-to", other}})
	d = daemontest.Launch(t, daemontest.Options{Args: []string{"--backup-to", other}})
	is.Equal(d.Wait(drainLimit), 1)
	says(t, d.Output(), "another process makes its backups in")
}
