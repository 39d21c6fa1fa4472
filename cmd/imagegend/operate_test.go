package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// A newcomer is told how to make a user and a key, and what the provider is.
func TestBanner(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--log-format", "text"}})
	banner := d.Output()
	says(t, banner, "imagegend ", d.URL, d.DataDir, "admin.sock", "fake-1 by fake (credits 1K 1, 2K 2, 4K 4)", "WARNING", "ready in ",
		"imagegend user create alice --credits 1000 --data-dir "+d.DataDir, "imagegend key create --user alice")
	is.True(strings.Count(banner, "\n") <= 12)
}

func TestReadyRecord(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	var ready map[string]any
	for line := range strings.Lines(d.Output()) {
		var record map[string]any
		is.NoErr(json.Unmarshal([]byte(line), &record)) // every line is one record
		if record["msg"] == "ready" {
			ready = record
		}
	}
	is.Equal(ready["listen"], d.URL)
	is.Equal(ready["data_dir"], d.DataDir)
}

// The same commands work beside a server and without one.
func TestCommandsWithAndWithoutServer(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	work := func() {
		t.Helper()
		user := "alice"
		if strings.Contains(d.Admin("user", "list"), "alice") {
			user = "bob"
		}
		says(t, d.Admin("user", "create", user, "--account-type", "PRO", "--credits", "5"), user, "PRO", "5 credits")
		_, stderr, status := d.Command("user", "create", user)
		is.Equal(status, 1)
		is.Equal(strings.Count(stderr, "\n"), 1)
		says(t, stderr, user, "exists")

		stdout, stderr, status := d.Command("key", "create", "--user", user, "--expires-in", "720h")
		is.Equal(status, 0)
		is.True(strings.HasPrefix(stdout, "img_live_") && strings.Count(stdout, "\n") == 1 && !strings.Contains(stdout, " "))
		says(t, stderr, "shown only now", "expires at")
		var keys []map[string]any
		is.NoErr(json.Unmarshal([]byte(d.Admin("key", "list", "--user", user, "--json")), &keys))
		is.Equal(len(keys), 1)
		for _, name := range []string{"id", "name", "prefix", "created_at", "expires_at", "revoked_at", "last_used_at"} {
			_, ok := keys[0][name]
			is.True(ok)
		}
		is.Equal(keys[0]["revoked_at"], nil)
		d.Admin("key", "revoke", keys[0]["id"].(string))

		says(t, d.Admin("credit", "grant", "--user", user, "10", "--ref", "r-"+user), "the balance is 15")
		says(t, d.Admin("credit", "grant", "--user", user, "10", "--ref", "r-"+user), "the balance is 15")
		_, stderr, status = d.Command("credit", "grant", "--user", user, "11", "--ref", "r-"+user)
		is.Equal(status, 1)
		says(t, stderr, "r-"+user, "nothing was changed")
		says(t, d.Admin("credit", "revoke", "--user", user, "3"), "the balance is 12")
		var history []map[string]any
		is.NoErr(json.Unmarshal([]byte(d.Admin("credit", "history", "--user", user, "--json")), &history))
		is.Equal(len(history), 3)
		is.Equal(history[0]["kind"], "revoke")
		says(t, d.Admin("credit", "lots", "--user", user), "REMAINING")

		d.Admin("user", "set", user, "--account-type", "TEAM")
		d.Admin("user", "disable", user)
		var users []map[string]any
		is.NoErr(json.Unmarshal([]byte(d.Admin("user", "list", "--json")), &users))
		is.Equal(users[0]["account_type"], "TEAM")
		is.True(users[0]["disabled_at"] != nil)
		says(t, d.Admin("clock", "show"), "trusted")
		says(t, d.Admin("audit"), "clean")
	}
	work()
	is.Equal(d.Terminate(drainLimit), 0)
	work()
}

func TestWrongDataDirectory(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	for _, args := range [][]string{{"user", "list"}, {"audit"}, {"backup", "x.tar"}} {
		_, stderr, status := command(t, dir, nil, append(args, "--data-dir", "./wrong")...)
		is.Equal(status, 1)
		says(t, stderr, "./wrong", "imagegend serve")
	}
	left, err := os.ReadDir(dir)
	is.NoErr(err)
	is.Equal(len(left), 0)
}

func TestLockedWithoutSocket(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	is.NoErr(os.Remove(filepath.Join(d.DataDir, "admin.sock")))
	_, stderr, status := d.Command("user", "list")
	is.Equal(status, 1)
	says(t, stderr, d.DataDir, "in use by another process", "admin.sock")

	second := daemontest.Launch(t, daemontest.Options{DataDir: d.DataDir})
	is.Equal(second.Wait(drainLimit), 1)
	says(t, second.Output(), "in use by another process", "--data-dir")
}

func TestAddressInUse(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	dir := filepath.Join(t.TempDir(), "data")
	second := daemontest.Launch(t, daemontest.Options{DataDir: dir, Args: []string{"--addr", strings.TrimPrefix(d.URL, "http://")}})
	is.Equal(second.Wait(drainLimit), 1)
	says(t, second.Output(), "in use", "--addr")
	_, err := os.Stat(dir)
	is.True(os.IsNotExist(err)) // nothing was made
}

func TestBackupAndRestore(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	_, key := d.NewUser(10)
	answer := d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "size": "64x64"}))
	is.Equal(answer.Status, 200)
	archive := filepath.Join(t.TempDir(), "backup.tar")
	d.Admin("backup", archive) // while the server runs
	_, stderr, status := d.Command("backup", archive)
	is.Equal(status, 1)
	says(t, stderr, "exists already")

	restored := filepath.Join(t.TempDir(), "restored")
	_, _, status = command(t, t.TempDir(), nil, "restore", archive, "--data-dir", restored)
	is.Equal(status, 0)
	_, stderr, status = command(t, t.TempDir(), nil, "restore", archive, "--data-dir", restored)
	is.Equal(status, 1)
	says(t, stderr, restored)

	again := daemontest.Start(t, daemontest.Options{DataDir: restored})
	says(t, again.Admin("audit"), "clean")
	var g struct{ ID string }
	answer.Into(t, &g)
	var copied struct{ Images []struct{ URL string } }
	again.Call(daemontest.Request{Path: "/api/v1/generations/" + g.ID, Key: key}).Into(t, &copied)
	is.Equal(len(copied.Images), 1)
	is.Equal(again.Call(daemontest.Request{Path: copied.Images[0].URL}).Status, 200)

	stdout, _, status := d.Command("backup", "-")
	is.Equal(status, 0)
	is.True(len(stdout) > 1000)
	broken := filepath.Join(t.TempDir(), "broken.tar")
	is.NoErr(os.WriteFile(broken, []byte(stdout[:len(stdout)/2]), 0o600))
	_, stderr, status = command(t, t.TempDir(), nil, "restore", broken, "--data-dir", "nothing")
	is.Equal(status, 1)
	says(t, stderr, "nothing was restored")
}

// A script starts the server and goes on at once.
func TestCommandRightAfterStart(t *testing.T) {
	is := is.New(t)
	d := daemontest.Launch(t, daemontest.Options{DataDir: filepath.Join(t.TempDir(), "data")})
	says(t, d.Admin("user", "create", "alice"), "created user alice")
	says(t, d.Admin("user", "list"), "alice")
	until(t, "ready", func() bool { return strings.Contains(d.Output(), `"ready"`) })
	is.Equal(d.Terminate(drainLimit), 0)
}
