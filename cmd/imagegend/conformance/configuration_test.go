package conformance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const configurationLine = "contract: `imagegend COMMAND`. For `serve`"

var configurationChecks = []check{
	{
		name:  "flag over environment over file over default",
		lines: []string{configurationLine, "contract: | `config`, `config validate`, `version`, `completion` |"},
		elsewhere: []string{"cmd/imagegend/internal/cli.TestConfig", "cmd/imagegend/internal/config.TestPrecedence",
			"cmd/imagegend/internal/config.TestEverySourceReadsEverySetting", "cmd/imagegend.TestConfigValidate",
			"cmd/imagegend.TestLogLevel"},
	},
	{
		name:  "migrations",
		lines: []string{"contract: | `migrate [--print"},
		elsewhere: []string{"cmd/imagegend/internal/cli.TestMigratePrints", "cmd/imagegend.TestMove",
			"imagegen/storage/postgres.TestMigrationsByAnotherTool", "imagegen/storage/postgres.TestPoolOfTheHosts",
			"imagegen/storage/postgres.TestRights", "imagegen/storage/postgres.TestEncoding"},
	},
	{name: "configurations that are refused", lines: []string{configurationLine},
		elsewhere: []string{"cmd/imagegend/internal/config.TestWrongValues",
			"cmd/imagegend/internal/cli.TestWrongConfiguration", "cmd/imagegend/internal/cli.TestMisspeltVariables"}},
	{
		name:  "the models file",
		lines: []string{configurationLine, "contract: `--dev` and `--models fake` list one model"},
		elsewhere: []string{"cmd/imagegend/internal/catalog.TestLoad",
			"cmd/imagegend/internal/cli.TestServeReadsItsFiles", "cmd/imagegend/internal/catalog.TestMistakesAreNamed"},
	},
	{name: "version and completion",
		lines:     []string{"contract: | `config`, `config validate`, `version`, `completion` |"},
		elsewhere: []string{"cmd/imagegend/internal/cli.TestVersion", "cmd/imagegend/internal/cli.TestCompletion"}},
}

var usageChecks = []check{
	{
		name:      "wrong usage",
		lines:     []string{"contract: Errors: one line on standard error"},
		elsewhere: []string{"cmd/imagegend/internal/cli.TestWrongUsage", "cmd/imagegend/internal/cli.TestHelp"},
	},
	{
		name: "the wrong directory",
		lines: []string{
			"contract: `--data-dir` on every administrative command",
			"contract: Errors: one line on standard error",
		},
		daemon: checkWrongDirectory,
	},
	{
		name:   "the admin socket",
		lines:  []string{"contract: `--data-dir` on every administrative command"},
		daemon: checkAdminSocket,
	},
}

// administrative are the commands that work on a data directory.
var administrative = [][]string{
	{"user", "create", "alice"}, {"user", "list"}, {"user", "set", "alice", "--account-type", "PRO"},
	{"user", "disable", "alice"}, {"key", "create", "--user", "alice"}, {"key", "list", "--user", "alice"},
	{"key", "revoke", "key_1"}, {"credit", "grant", "--user", "alice", "1"}, {"credit", "revoke", "--user", "alice",
		"1"},
	{"credit", "history", "--user", "alice"}, {"generation", "show", "gen_1"}, {"generation", "delete", "gen_1"},
	{"audit"}, {"backup", "x.tar"},
}

func checkWrongDirectory(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	p := program{dir: dir}
	// side by side: each waits a while for a server that is just being started
	t.Run("each command", func(t *testing.T) {
		for _, args := range administrative {
			t.Run(strings.Join(args[:min(2, len(args))], " "), func(t *testing.T) {
				t.Parallel()
				p.run(t, append(args, "--data-dir", "./wrong")...).fails(t, 1, "./wrong", "imagegend serve")
			})
		}
	})
	p.run(t, "user", "list").fails(t, 1, "./imagegend-data", "imagegend serve")
	is.NoErr(os.Mkdir(filepath.Join(dir, "other"), 0o700))
	write(t, "not ours", dir, "other", "notes.txt")
	p.run(t, "user", "list", "--data-dir", "./other").fails(t, 1, "/other")
	is.Equal(files(t, dir), []string{"other"})
	is.Equal(files(t, filepath.Join(dir, "other")), []string{"notes.txt"})
}

func checkAdminSocket(t *testing.T) {
	is := is.New(t)
	// The path of the socket would be too long here: it lies in the runtime directory.
	long, runtime := filepath.Join(t.TempDir(), strings.Repeat("long", 25)), t.TempDir()
	d := daemontest.Start(t, daemontest.Options{DataDir: long, Env: []string{"XDG_RUNTIME_DIR=" + runtime}})
	command(t, d, "user", "create", "alice").succeeds(t)
	is.Equal(len(files(t, runtime)), 1)
	var socket os.FileInfo
	is.NoErr(filepath.Walk(runtime, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode()&os.ModeSocket != 0 {
			socket = info
		}
		return err
	}))
	is.True(socket != nil)
	is.Equal(socket.Mode().Perm(), os.FileMode(0o600))
	is.Equal(d.Terminate(exitLimit), 0)
	says(t, command(t, d, "user", "list").succeeds(t).stdout, "alice") // without the server

	// The command does not open the database of a server that it cannot reach.
	d = daemontest.Start(t, daemontest.Options{})
	is.NoErr(os.Remove(filepath.Join(d.DataDir, "admin.sock")))
	command(t, d, "user", "list").fails(t, 1, d.DataDir, "in use")
}
