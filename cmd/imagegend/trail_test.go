package main_test

import (
	"encoding/json"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// trail returns act and actor of each row that the arguments select, oldest first.
func trail(t *testing.T, d *daemontest.Daemon, args ...string) (acts []string) {
	t.Helper()
	for line := range strings.Lines(d.Admin(append([]string{"trail", "--json"}, args...)...)) {
		var row struct{ Via, Actor, Act, Outcome string }
		is.New(t).NoErr(json.Unmarshal([]byte(line), &row))
		acts = append([]string{row.Act + " " + row.Via + ":" + row.Actor + " " + row.Outcome}, acts...)
	}
	return acts
}

// The trail has each act with its actor, whichever way it came; it survives restarts, and is in a backup.
func TestTrail(t *testing.T) {
	is := is.New(t)
	self, err := user.Current()
	is.NoErr(err)
	d := daemontest.Start(t, daemontest.Options{})
	d.Admin("user", "create", "alice", "--credits", "5")
	_, _, failed := d.Command("user", "create", "alice")
	is.Equal(failed, 1)
	d.Terminate(10 * time.Second)
	d.Admin("credit", "grant", "--user", "alice", "7", "--ref", "r")
	d.Admin("credit", "grant", "--user", "alice", "7", "--ref", "r") // changes nothing
	backup, restored := filepath.Join(t.TempDir(), "b.tar"), filepath.Join(t.TempDir(), "restored")
	d.Admin("backup", backup)
	d.DataDir = restored
	d.Admin("restore", backup)
	socket, command := " socket:"+self.Username, " command:"+self.Username
	is.Equal(cmp.Diff([]string{
		"user.invite service: done", // the link by which the first operator is made
		"serve.start service: done",
		"user.create" + socket + " done",
		"credit.grant" + socket + " done",
		"user.create" + socket + " refused",
		"serve.stop service: done",
		"credit.grant" + command + " done",
		"data.backup" + command + " begun", // its end is behind what it holds
		"data.restore" + command + " done",
	}, trail(t, d)), "")
	is.Equal(d.Admin("audit"), "clean\n")

	is.Equal(cmp.Diff([]string{"credit.grant" + socket + " done", "credit.grant" + command + " done"},
		trail(t, d, "--act", "credit")), "")
	is.Equal(len(trail(t, d, "--target", "alice", "--since", "1h")), 3)
	is.Equal(len(trail(t, d, "--actor", "command:"+self.Username, "--limit", "2")), 2)
	is.Equal(len(trail(t, d, "--actor", "mallory")), 0)
	says(t, d.Admin("trail", "--act", "credit.grant"), "SEQ", "OUTCOME", "alice", "balance=5",
		`balance=12 credits=7 ref=r`, "done")
	_, stderr, status := d.Command("trail", "--act", "credits")
	is.Equal(status, 0)
	says(t, stderr, "no row fits")
	for _, since := range []string{"yesterday", "-1h", "2030-13-01T00:00:00Z"} {
		_, stderr, status := d.Command("trail", "--since", since)
		is.Equal(status, 2)
		says(t, stderr, "--since", since, "such as 24h")
	}
}
