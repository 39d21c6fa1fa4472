package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
	"github.com/imagegend/imagegend/imagegen/account"
)

// outcome is what a command did.
type outcome struct {
	code           int
	stdout, stderr string
}

// imagegend runs a command in process, in the test's working directory and with no more than the
// given environment.
func imagegend(t *testing.T, env map[string]string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	defer setEnv(t, env)()
	code := cli.Run(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

func TestWrongUsage(t *testing.T) {
	tests := []struct {
		args string
		want []string
	}{
		{"serv", []string{`unknown command "serv"`, `did you mean "serve"`, "imagegend --help"}},
		{"user", []string{"imagegend user needs a command", "create", "disable"}},
		{"user bogus", []string{`unknown command "bogus"`, "imagegend user --help"}},
		{"sevre --dev", []string{`unknown command "sevre" for imagegend; did you mean "serve"?; see imagegend --help`}},
		{"user lsit --json", []string{`unknown command "lsit" for imagegend user; did you mean "list"?`}},
		{"user delete alice --data-dir ./data", []string{`unknown command "delete" for imagegend user;`}},
		{"credit balance --user alice", []string{`unknown command "balance" for imagegend credit;`}},
		{"user --json", []string{"unknown flag: --json"}},
		{"serve --data_dir x", []string{"--data_dir", `did you mean "--data-dir"`, "imagegend serve --help"}},
		{"serve --addr :99999", []string{"--addr", `":99999"`}},
		{"serve now", []string{`"now"`, "no argument is wanted"}},
		{"serve --drain-timeout 15", []string{"--drain-timeout", "such as 15s"}},
		{"user create", []string{"NAME is missing"}},
		{"move", []string{"name one target"}},
		{"move --to-data-dir x --to-database postgres://db/x --to-images s3://x", []string{"name one target"}},
		{"move --to-database postgres://db/x", []string{"go together"}},
		{"move --to-images s3://x", []string{"go together"}},
		{"move --to-data-dir x --give-up", []string{"--give-up is about the source"}},
		{"user create a b", []string{`"b"`, "quotes"}},
		{"user create a --credits 0", []string{"--credits", "from 1"}},
		{"user set a", []string{"at least one of the flags in the group [account-type notify-below] is required"}},
		{"key create", []string{`required flag(s) "user" not set`}},
		{"key create --user a --expires-in 0s", []string{"--expires-in", "more than 0"}},
		{"key create --user a --expires-in 0", []string{"--expires-in", "such as 0s"}},
		{"credit grant --user a", []string{"N is missing"}},
		{"credit grant --user a 1.5", []string{`"1.5"`, "whole number"}},
		{"credit grant --user a 1000000000000000000000", []string{"from 1 to 9007199254740991"}},
		{"credit grant --user a 5 --expires-in 1h --expires-at 2030-01-01T00:00:00Z",
			[]string{"[expires-at expires-in] were all set"}},
		{"credit grant --user a 5 --expires-at tomorrow", []string{`"tomorrow"`, "2030-12-31T23:59:59Z"}},
		{"credit grant --user a 5 --priority 0", []string{`"0" for "--priority"`, "from 1 to 100"}},
		{"credit grant --user a 5 --priority 101", []string{`"101" for "--priority"`, "from 1 to 100"}},
		{"credit history --user a --limit -1", []string{"--limit"}},
		{"credit grant --user a -5", []string{`"-5"`, "whole number", "credit revoke takes them back"}},
		{"credit revoke -5 --user a", []string{`"-5"`, "whole number"}},
		{"credit grant 5", []string{`required flag(s) "user" not set`}},
		{"credit grant alice 5", []string{"--user NAME is missing", `did you mean "--user alice"?`}},
		{"credit grant alice", []string{`did you mean "--user alice"?`}},
		{"key create --user a --limit week=3", []string{`"week" is not a limit`, "total, day, month, at-once"}},
		{"key create --user a --limit day=0", []string{"a number from 1", "day=0"}},
		{"key create --user a --limit total=5,total=9", []string{"total is given twice"}},
		{"key limit key_1 --limit at-once=5,day=1 --limit at-once=5", []string{"at-once is given twice"}},
		{"key create --user a --limit model=", []string{"a limit is a name", "or model=NAME"}},
		{"key limit key_1", []string{`required flag(s) "limit" not set`}},
		{"usage --user a --from yesterday", []string{"a day is such as 2026-01-31"}},
		{"usage", []string{"at least one of the flags in the group [user all] is required"}},
		{"usage --all --user a", []string{"[all user] were all set"}},
		{"usage --user a --credit-value 1", []string{"[credit-value user] were all set"}},
		{"usage --all --credit-value 0.0000001", []string{"--credit-value", "at most six decimals"}},
		{"key create alice", []string{`did you mean "--user alice"?`}},
		{"user list -5", []string{`"-5"`, "no argument is wanted"}},
		{"user list -data-dir x", []string{"unknown flag: -data-dir", `did you mean "--data-dir"?`}},
		{"user list --data-dir", []string{"flag needs an argument: --data-dir"}},
		{"user list -v", []string{"unknown flag: -v;"}},
		{"serve -dev", []string{`did you mean "--dev"?`}},
		{"generate fox --speed 1", []string{"unknown flag: --speed; see imagegend generate --help"}}, // not --seed
		{"generate fox --mode best", []string{"unknown flag: --mode; see"}},                          // not --model
		{"generate fox --quantity 2", []string{"unknown flag: --quantity", `did you mean "--n"?`}},
		{"serve --console=maybe", []string{`"maybe" for "--console" flag: write true or false;`}},
		{"help bogus", []string{`unknown command "bogus" for imagegend;`}},
		{"help user lsit", []string{`unknown command "lsit" for imagegend user; did you mean "list"?`}},
		{"completion", []string{"imagegend completion needs a command", "zsh"}},
		{"completion tcsh", []string{`unknown command "tcsh"`}},
		{"generate", []string{"PROMPT is missing"}},
		{"generate a fox", []string{`"fox"`, "quotes"}},
		{"generate fox --size 10", []string{"--size"}},
		{"generate fox --n 5", []string{"--n is at most 4"}},
		{"generate fox --quality best", []string{"--quality", `"best"`}},
		{"generate fox --output-format gif", []string{"--output-format", `"gif"`}},
		{"generate fox --output-compression 101", []string{"--output-compression is at most 100"}},
		{"generate fox --background white", []string{"--background", `"white"`}},
		{"generate fox --mask m.png", []string{"--mask needs the --ref"}},
		{"generate fox --seed x", []string{"--seed"}},
		{"generate fox --n 2 -o -", []string{"only one image"}},
		{"generate fox --dev --no-wait", []string{"--no-wait"}},
		{"generate fox --no-wait -o y.png", []string{"--no-wait", "-o"}},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			// No data directory is there: what is refused as usage was refused before anything was opened.
			got := imagegend(t, nil, strings.Fields(test.args)...)
			is.Equal(got.stdout, "")
			is.Equal(strings.Count(got.stderr, "\n"), 1) // one line
			says(t, got.stderr, append(test.want, "imagegend: ", "--help")...)
			is.Equal(got.code, cli.ExitUsage)
		})
	}
}

// An error that the command line does not decide is not wrong usage.
func TestWrongConfiguration(t *testing.T) {
	tests := []struct {
		name string
		env  map[string]string
		args string
		want string
	}{
		{"variable", map[string]string{"IMAGEGEND_DRAIN_TIMEOUT": "15"}, "serve", "IMAGEGEND_DRAIN_TIMEOUT"},
		{"file missing", map[string]string{"IMAGEGEND_CONFIG": "nowhere.yaml"}, "serve", "nowhere.yaml"},
		{"models missing", nil, "serve --addr 127.0.0.1:0 --models nowhere.yaml", "nowhere.yaml"},
		{"no key", nil, "generate fox", "IMAGEGEND_API_KEY"},
		{"no such reference", nil, "generate fox --ref nowhere.png", "nowhere.png"},
		{"no such directory", nil, "generate fox -o nowhere/fox.png", "nowhere"},
		{"no data directory", nil, "user list", "imagegend-data"},
		{"no data directory to back up", nil, "backup x.tar --data-dir nowhere", "nowhere"},
		{"no archive", nil, "restore nowhere.tar", "nowhere.tar"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			got := imagegend(t, test.env, strings.Fields(test.args)...)
			is.Equal(got.code, cli.ExitError)
			is.Equal(got.stdout, "")
			is.Equal(strings.Count(got.stderr, "\n"), 1)
			is.True(strings.Contains(got.stderr, test.want))
		})
	}
}

func TestHelp(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	got := imagegend(t, nil)
	is.Equal(got.code, cli.ExitOK)
	for _, command := range []string{"serve", "generate", "user", "key", "credit", "generation", "audit", "backup",
		"restore", "move", "clock", "config", "openapi", "mcp", "version", "completion"} {
		says(t, got.stdout, "\n  "+command+" ")
	}
	got = imagegend(t, nil, "serve", "--help")
	is.Equal(imagegend(t, nil, "help", "serve"), got)
	is.Equal(got.code, cli.ExitOK)
	is.Equal(got.stderr, "")
	says(t, got.stdout, "Network:", "--data-dir directory", "[$IMAGEGEND_DATA_DIR]", `"./imagegend-data")`, "Examples:")
}

// The help of ops-key create says of each scope what it allows.
func TestHelpNamesScopes(t *testing.T) {
	t.Chdir(t.TempDir())
	got := imagegend(t, nil, "ops-key", "create", "--help")
	for _, s := range account.ScopeNames() {
		if !regexp.MustCompile(`\n  ` + string(s) + ` +\w+`).MatchString(got.stdout) {
			t.Errorf("nothing is said of the scope %s", s)
		}
	}
}

func TestConfig(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	env := map[string]string{"IMAGEGEND_API_KEY": "img_live_secret", "IMAGEGEND_RETAIN": "48h"}
	got := imagegend(t, env, "config", "--addr", ":9", "--json")
	is.Equal(got.code, cli.ExitOK)
	var rows []struct{ Key, Value, Origin, Name string }
	is.NoErr(json.Unmarshal([]byte(got.stdout), &rows))
	values := map[string]string{}
	for _, r := range rows {
		values[r.Key] = r.Value + " " + r.Origin + " " + r.Name
	}
	is.Equal(values["addr"], ":9 flag --addr")
	is.Equal(values["retain"], "48h env IMAGEGEND_RETAIN")
	is.Equal(values["slot-wait"], "30s default ")
	is.Equal(values["trail-retain"], "400d default ")
	_, ofAClient := values["api-key"]
	is.True(!ofAClient)
	is.True(!strings.Contains(got.stdout, "img_live"))

	got = imagegend(t, nil, "config")
	is.Equal(got.code, cli.ExitOK)
	is.True(regexp.MustCompile(`retain +never +default`).MatchString(got.stdout))
}

func TestVersion(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	text := imagegend(t, nil, "version")
	is.True(strings.HasPrefix(text.stdout, "imagegend "))
	is.Equal(imagegend(t, nil, "--version"), text)
	is.Equal(imagegend(t, nil, "-v"), text)
	var v map[string]string
	is.NoErr(json.Unmarshal([]byte(imagegend(t, nil, "version", "--json").stdout), &v))
	is.True(v["version"] != "" && v["go"] != "" && v["platform"] != "")
}

func TestCompletion(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	got := imagegend(t, map[string]string{"IMAGEGEND_CONFIG": "broken.yaml"}, "completion", "bash")
	is.Equal(got.code, cli.ExitOK) // whatever the configuration
	is.True(strings.Contains(got.stdout, "imagegend"))
}

// setEnv sets variables until the function that it returns is called.
func setEnv(t *testing.T, variables map[string]string) (unset func()) {
	for name, value := range variables {
		t.Setenv(name, value)
	}
	return func() {
		for name := range variables {
			os.Unsetenv(name)
		}
	}
}

// The settings of the user who runs the tests are not theirs.
func TestMain(m *testing.M) {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "IMAGEGEND_") {
			os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

func TestMisspeltVariables(t *testing.T) {
	is := is.New(t)
	got := imagegend(t, map[string]string{"IMAGEGEND_DATADIR": "/var/lib/imagegend", "IMAGEGEND_CONFIG": "",
		"IMAGEGEND_API_KEY": "x", "IMAGEGEND_OPS_KEY": "x", "IMAGEGEND_SERVICE_HOST": "10.0.0.1",
		"IMAGEGEND_PORT": "tcp://10.0.0.1:80", "DATA_DIR": "x"}, "version")
	is.Equal(got.code, cli.ExitOK)
	is.Equal(got.stderr,
		"imagegend: the environment variable IMAGEGEND_DATADIR is not a setting and changes nothing; did you mean IMAGEGEND_DATA_DIR?\n")
}
