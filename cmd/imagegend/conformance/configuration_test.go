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
		name:   "flag over environment over file over default",
		lines:  []string{configurationLine, "contract: | `config`, `config validate`, `version`, `completion` |"},
		daemon: checkPrecedence,
		elsewhere: []string{"cmd/imagegend/internal/config.TestPrecedence", "cmd/imagegend/internal/config.TestEverySourceReadsEverySetting",
			"cmd/imagegend.TestConfigValidate", "cmd/imagegend.TestLogLevel"},
	},
	{name: "configurations that are refused", lines: []string{configurationLine}, daemon: checkRefusedConfiguration},
	{
		name:      "the models file",
		lines:     []string{configurationLine, "contract: `--dev` and `--models fake` list one model"},
		daemon:    checkModelsFile,
		elsewhere: []string{"cmd/imagegend/internal/catalog.TestMistakesAreNamed"},
	},
	{name: "version and completion", lines: []string{"contract: | `config`, `config validate`, `version`, `completion` |"}, daemon: checkVersion},
}

var usageChecks = []check{
	{
		name:   "wrong usage",
		lines:  []string{"contract: Errors: one line on standard error"},
		daemon: checkUsage,
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

// setting is one line of what config shows.
func setting(t *testing.T, p program, key string, args ...string) object {
	t.Helper()
	for _, s := range listOf(t, p.run(t, append([]string{"config", "--json"}, args...)...).succeeds(t).stdout) {
		if s["key"] == key {
			return s
		}
	}
	t.Fatalf("config does not show %s", key)
	return nil
}

func checkPrecedence(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	plain := program{dir: dir}
	same(t, setting(t, plain, "concurrency"), object{"key": "concurrency", "value": "512", "origin": "default"})
	write(t, "concurrency: 3\ndrain-timeout: 20s\n", dir, "imagegend.yaml")
	same(t, setting(t, plain, "concurrency"), object{"key": "concurrency", "value": "3", "origin": "file", "name": pattern(".*imagegend.yaml")})
	env := program{dir: dir, env: []string{"IMAGEGEND_CONCURRENCY=5"}}
	same(t, setting(t, env, "concurrency"), object{"key": "concurrency", "value": "5", "origin": "env", "name": "IMAGEGEND_CONCURRENCY"})
	same(t, setting(t, env, "concurrency", "--concurrency", "7"), object{"key": "concurrency", "value": "7", "origin": "flag", "name": "--concurrency"})
	same(t, setting(t, env, "drain-timeout")["origin"], "file")

	shown := env.run(t, "config").succeeds(t).stdout
	says(t, shown, "concurrency", "5", "IMAGEGEND_CONCURRENCY", "drain-timeout", "20s", "imagegend.yaml")
	write(t, "api-key: img_live_secret\n", dir, "client.yaml") // a key counts only in a file that is named
	shown = plain.run(t, "config", "--config", "client.yaml").succeeds(t).stdout
	is.True(!strings.Contains(shown, "img_live_secret"))
	is.True(!strings.Contains(env.run(t, "config", "--json").stdout, "img_live_secret"))
	elsewhere := write(t, "concurrency: 9\n", t.TempDir(), "other.yaml")
	same(t, setting(t, plain, "concurrency", "--config", elsewhere)["value"], "9")

	// What config shows is what counts, also for the client.
	d := daemontest.Start(t, daemontest.Options{})
	a := serviceOf(d).account(t, 10)
	write(t, "url: "+a.url+"\napi-key: "+a.key+"\nsize: 64x48\n", dir, "imagegend.yaml")
	plain.run(t, "generate", "a fox", "--config", "imagegend.yaml").succeeds(t)
	same(t, a.list(t, "")["data"].([]any)[0].(object)["size"], "64x48")
}

func checkRefusedConfiguration(t *testing.T) {
	for content, mentions := range map[string][]string{
		"concurency: 3\n":     {"concurency", "concurrency", "imagegend.yaml"},
		"data_dir: x\n":       {"data_dir", "data-dir", "imagegend.yaml"},
		"drain-timeout: 15\n": {"drain-timeout", "15"},
		"concurrency: many\n": {"concurrency", "many"},
		"- a\n":               {"imagegend.yaml"},
	} {
		dir := t.TempDir()
		write(t, content, dir, "imagegend.yaml")
		program{dir: dir}.run(t, "serve", "--addr", "127.0.0.1:0").fails(t, 1, mentions...)
		if left := files(t, dir); len(left) != 1 {
			t.Errorf("it has made something: %v", left)
		}
	}
	program{env: []string{"IMAGEGEND_DRAIN_TIMEOUT=15"}}.run(t, "serve").fails(t, 1, "IMAGEGEND_DRAIN_TIMEOUT", "15")
	program{}.run(t, "serve", "--drain-timeout", "15").fails(t, 2, "drain-timeout", "15")
	program{}.run(t, "serve", "--config", "absent.yaml").fails(t, 1, "absent.yaml")
}

func checkModelsFile(t *testing.T) {
	dir := t.TempDir()
	write(t, "addr: 127.0.0.1:0\n", dir, "imagegend.yaml")
	write(t, twoModels, dir, "models.yaml") // beside the configuration
	d := daemontest.Start(t, daemontest.Options{Models: true, Args: []string{"--config", filepath.Join(dir, "imagegend.yaml")}})
	same(t, serviceOf(d).call(t, request{address: "/api/v1/models"}).object(t)["data"].([]any)[1], listed("dear", object{"1K": 7, "2K": 8, "4K": 9}))
	for content, mentions := range map[string][]string{
		"models:\n  - {id: a, provider: {type: fake}, credits: {1k: 1}}\n":                   {"models.yaml:2", `"a"`, "1k", "1K"},
		"models:\n  - {id: a, provider: {type: fake}, credits: {1K: 1}, max_imags: 2}\n":     {"models.yaml:2", "max_imags", "max_images"},
		"models:\n  - {id: a, provider: {type: fake}, credits: {1K: 1.5}}\n":                 {"models.yaml:2", "1.5"},
		"models:\n  - {id: a, provider: {type: fake}, credits: {1K: 1}, credits: {1K: 2}}\n": {"models.yaml:2", "credits"},
		"models:\n  - {id: a, provider: {type: nonsense}, credits: {1K: 1}}\n":               {"models.yaml:2", "nonsense", "fake"},
		"models: []\n": {"models.yaml:1", "models"},
		"":             {"models.yaml"},
	} {
		file := write(t, content, t.TempDir(), "models.yaml")
		program{}.run(t, "serve", "--addr", "127.0.0.1:0", "--data-dir", filepath.Join(t.TempDir(), "d"), "--models", file).fails(t, 1, mentions...)
	}
}

func checkVersion(t *testing.T) {
	says(t, program{}.run(t, "version").succeeds(t).stdout, "imagegend ", "go1.")
	same(t, decode[object](t, []byte(program{}.run(t, "version", "--json").succeeds(t).stdout)),
		object{"version": pattern(".+"), "revision": pattern(".*"), "go": pattern(`go1\..+`), "platform": pattern(`\w+/\w+`)})
	for _, shell := range []string{"bash", "zsh", "fish"} {
		says(t, program{}.run(t, "completion", shell).succeeds(t).stdout, "imagegend")
	}
}

func checkUsage(t *testing.T) {
	for _, c := range []struct {
		args     []string
		mentions []string
	}{
		{[]string{"srve"}, []string{"srve", "serve"}},
		{[]string{"serve", "--adr", "x"}, []string{"--adr", "--addr"}},
		{[]string{"serve", "now"}, []string{"now"}},
		{[]string{"user"}, []string{"create", "list", "set", "disable"}},
		{[]string{"user", "creat", "alice"}, []string{"creat", "create"}},
		{[]string{"user", "create"}, []string{"NAME"}},
		{[]string{"user", "set", "alice"}, []string{"account-type"}},
		{[]string{"key", "create"}, []string{"user"}},
		{[]string{"credit", "grant", "--user", "alice"}, []string{"N"}},
		{[]string{"generate"}, []string{"PROMPT"}},
		{[]string{"generate", "a", "fox"}, []string{"fox", "quotes"}},
		{[]string{"generate", "a fox", "--n", "5"}, []string{"--n", "4"}},
		{[]string{"generate", "a fox", "--size", "big"}, []string{"--size", "big"}},
		{[]string{"generate", "a fox", "--quality", "best"}, []string{"--quality", "best"}},
		{[]string{"backup"}, []string{"FILE"}},
		{[]string{"serve", "--dev", "--data-dir", "x"}, []string{"--dev", "--data-dir"}},
	} {
		program{}.run(t, c.args...).fails(t, 2, append(c.mentions, "--help")...)
	}
	program{}.run(t, "--help").succeeds(t)
}

// administrative are the commands that work on a data directory.
var administrative = [][]string{
	{"user", "create", "alice"}, {"user", "list"}, {"user", "set", "alice", "--account-type", "PRO"}, {"user", "disable", "alice"},
	{"key", "create", "--user", "alice"}, {"key", "list", "--user", "alice"}, {"key", "revoke", "key_1"},
	{"credit", "grant", "--user", "alice", "1"}, {"credit", "revoke", "--user", "alice", "1"}, {"credit", "history", "--user", "alice"},
	{"generation", "show", "gen_1"}, {"generation", "delete", "gen_1"}, {"audit"}, {"backup", "x.tar"},
}

func checkWrongDirectory(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	p := program{dir: dir}
	t.Run("each command", func(t *testing.T) { // side by side: each waits a while for a server that is just being started
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

	// A server that cannot be reached is no reason to open its database.
	d = daemontest.Start(t, daemontest.Options{})
	is.NoErr(os.Remove(filepath.Join(d.DataDir, "admin.sock")))
	command(t, d, "user", "list").fails(t, 1, d.DataDir, "in use")
}
