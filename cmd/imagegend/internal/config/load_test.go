package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

// load reads the settings as a command does: from flags, variables and the text of a file.
func load(t *testing.T, args []string, env map[string]string, file string) (config.Settings, *config.Sources,
	*pflag.FlagSet, error) {
	t.Helper()
	var s config.Settings
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.AllFlags(fs)
	config.DeclareFile(fs)
	if file != "" {
		path := filepath.Join(t.TempDir(), "settings.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	if err := fs.Parse(args); err != nil {
		return s, nil, fs, err
	}
	fs.VisitAll(func(f *pflag.Flag) { // also those that the user who runs the test has set
		t.Setenv(config.EnvName(f.Name), env[config.EnvName(f.Name)])
	})
	sources, err := config.Load(fs)
	return s, sources, fs, err
}

func TestPrecedence(t *testing.T) {
	flag, env, file := []string{"--addr", ":1"}, map[string]string{"IMAGEGEND_ADDR": ":2"}, "addr: ':3'\n"
	tests := []struct {
		name         string
		args         []string
		env          map[string]string
		file         string
		want, origin string
	}{
		{"flag over all", flag, env, file, ":1", config.FromFlag},
		{"environment over file", nil, env, file, ":2", config.FromEnv},
		{"file over default", nil, nil, file, ":3", config.FromFile},
		{"default", nil, nil, "", "127.0.0.1:8080", config.FromDefault},
		{"an empty variable is none", nil, map[string]string{"IMAGEGEND_ADDR": ""}, file, ":3", config.FromFile},
		{"a flag counts though it equals the default", []string{"--addr", "127.0.0.1:8080"}, env, file,
			"127.0.0.1:8080", config.FromFlag},
		{"a key without a value is none", nil, nil, "addr:\n", "127.0.0.1:8080", config.FromDefault},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			s, sources, fs, err := load(t, test.args, test.env, test.file)
			is.NoErr(err)
			is.Equal(s.Addr, test.want)
			is.Equal(sources.Given("addr"), test.origin == config.FromFlag)
			for _, e := range sources.Effective(fs) {
				if e.Key == "addr" {
					is.Equal(e.Value, test.want)
					is.Equal(e.Origin, test.origin)
				}
			}
		})
	}
}

// Every setting means the same wherever it stands.
func TestEverySourceReadsEverySetting(t *testing.T) {
	want := func() config.Settings {
		var s config.Settings
		s.DataDir, s.Dev, s.Addr, s.BaseURL = "/srv/images", true, ":80", "https://images.example.com"
		s.Database, s.Images = "postgres://db.example.com/imagegend", "s3://images/production"
		s.DatabaseSchema, s.DatabaseConnections = "images", 8
		s.OpsAddr, s.ImageLinks = "127.0.0.1:9090", "redirect"
		s.TLSCert, s.TLSKey, s.ACMEEmail, s.ACMEDirectory = "cert.pem", "key.pem", "ops@example.com",
			"https://ca.example.com/directory"
		s.ACMEDomains = []string{"images.example.com", "x.example.com"}
		s.PersonHeaders = []string{"X-User-Id", "X-Mail"}
		s.CORSOrigins, s.Models, s.Policy = []string{"https://a.example", "https://b.example"}, "m.yaml",
			"quality-first"
		s.Concurrency, s.Nodes, s.MaxQueued, s.SlotWait, s.AttemptTimeout = 4, 3, 50, 5*time.Second, time.Minute
		s.FairShares, s.MaxRefusals = false, 7
		s.Currency, s.CreditValue = "EUR", 12_500
		s.Retain, s.KeepFailed, s.TrailRetain, s.JoinWindow = 720*time.Hour, 48*time.Hour, 480*time.Hour, 5*time.Minute
		s.Events, s.EventsRetain, s.Webhooks, s.CostAbove = true, 240*time.Hour, "hooks.yaml", 25_500_000
		s.DrainTimeout, s.LogFormat, s.LogLevel, s.ReadyFile = time.Minute, "json", "debug", "ready.json"
		s.OpsAdmin = true
		s.BackupTo, s.BackupEvery, s.BackupKeep = "/backups", time.Hour, 3
		s.Console, s.OperatorName, s.OperatorPasswordFile = false, "olivia", "password"
		s.BrandName, s.BrandLogo, s.BrandAccent = "Atelier", "logo.svg", "0a7d5a"
		s.SignIn = config.SignIn{RequirePasskey: "operators", OIDCIssuer: "https://id.example.com/",
			OIDCClientID: "imagegend", OIDCSecret: "s", OIDCSecretFile: "secret", OIDCName: "Example ID",
			OIDCRoleClaim: "groups", OIDCOperators: "ops", OIDCCreateUsers: true}
		s.URL, s.APIKey, s.Model, s.Output, s.N = "http://localhost:1", "k", "m", "fox.png", 3
		s.Size, s.Quality, s.Async, s.NoWait, s.References = "64x64", "high", true, true, []string{"a.png"}
		s.OutputFormat, s.OutputCompression, s.Background, s.Seed, s.Mask = "jpeg", 80, "opaque", 7, "mask.png"
		s.MaxCredits = 12
		s.Dir = "pictures"
		return s
	}()
	values := map[string]string{
		"data-dir": "/srv/images", "database": "postgres://db.example.com/imagegend", "database-connections": "8",
		"database-schema": "images",
		"images":          "s3://images/production", "image-links": "redirect", "dev": "true", "addr": ":80",
		"ops-addr": ":9090", "tls-cert": "cert.pem", "tls-key": "key.pem", "acme-email": "ops@example.com",
		"acme-domain": "images.example.com,X.example.com", "acme-directory": "https://ca.example.com/directory",
		"base-url": "https://images.example.com/", "cors-origin": "https://a.example,https://b.example",
		"person-header": "x-user-id,X-Mail",
		"models":        "m.yaml", "policy": "quality-first", "concurrency": "4", "nodes": "3", "max-queued": "50",
		"fair-shares": "false", "max-refusals": "7", "slot-wait": "5s", "attempt-timeout": "1m", "retain": "720h",
		"keep-failed-prompts": "48h", "trail-retain": "480h", "events": "true", "events-retain": "240h",
		"webhooks":    "hooks.yaml",
		"join-window": "5m", "ops-admin": "true",
		"currency": "EUR", "credit-value": "0.0125", "cost-notify-above": "25.5",
		"backup-to": "/backups", "backup-every": "1h", "backup-keep": "3", "console": "false",
		"operator-name": "olivia", "operator-password-file": "password", "brand-name": "Atelier",
		"brand-logo": "logo.svg", "brand-accent": "0a7d5a", "require-passkey": "operators",
		"oidc-issuer": "https://id.example.com/", "oidc-client-id": "imagegend", "oidc-secret": "s",
		"oidc-secret-file": "secret", "oidc-name": "Example ID", "oidc-role-claim": "groups", "oidc-operators": "ops",
		"oidc-create-users": "true", "drain-timeout": "1m", "log-format": "json", "log-level": "debug",
		"ready-file": "ready.json",
		"url":        "http://localhost:1", "api-key": "k", "model": "m", "output": "fox.png", "n": "3", "size": "64x64",
		"quality": "high", "output-format": "jpeg", "output-compression": "80", "background": "opaque", "seed": "7",
		"max-credits": "12", "mask": "mask.png", "async": "true", "no-wait": "true", "ref": "a.png", "dir": "pictures",
		"trusted-proxy": "10.0.0.0/8,192.0.2.1",
	}
	var args []string
	env := map[string]string{}
	var file strings.Builder
	for name, value := range values {
		args = append(args, "--"+name+"="+value)
		env[config.EnvName(name)] = value
		file.WriteString(name + ": ")
		switch name {
		case "cors-origin", "person-header", "trusted-proxy", "ref", "acme-domain":
			file.WriteString("[\"" + strings.ReplaceAll(value, ",", `", "`) + "\"]\n")
		case "addr", "ops-addr":
			file.WriteString(`"` + value + `"` + "\n")
		default:
			file.WriteString(value + "\n")
		}
	}
	for name, from := range map[string]struct {
		args []string
		env  map[string]string
		file string
	}{
		"flags": {args: args}, "environment": {env: env}, "file": {file: file.String()},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			s, sources, fs, err := load(t, from.args, from.env, from.file)
			is.NoErr(err)
			is.Equal(len(s.TrustedProxies), 2)
			is.Equal(s.TrustedProxies[1].String(), "192.0.2.1/32")
			s.TrustedProxies = nil
			is.Equal(cmp.Diff(want, s), "")
			for _, e := range sources.Effective(fs) {
				is.True(e.Origin != config.FromDefault) // the test has a value for every setting
			}
		})
	}
}

func TestWrongValues(t *testing.T) {
	tests := []struct {
		name string
		args []string
		env  map[string]string
		file string
		want []string
	}{
		{"unit missing in a flag", []string{"--drain-timeout", "15"}, nil, "", []string{"--drain-timeout",
			"such as 15s"}},
		{"unit missing in a variable", nil, map[string]string{"IMAGEGEND_DRAIN_TIMEOUT": "15"}, "",
			[]string{"IMAGEGEND_DRAIN_TIMEOUT", "such as 15s"}},
		{"unit missing in the file", nil, nil, "attempt-timeout: 800\n", []string{"settings.yaml:1:18: attempt-timeout",
			"such as 800s"}},
		{"negative duration", nil, nil, "retain: -1h\n", []string{"retain", "negative"}},
		{"too short a memory", nil, nil, "retain: 1h\n", []string{"retain", "at least 24h"}},
		{"too short a memory of failures", []string{"--keep-failed-prompts", "23h"}, nil, "",
			[]string{"--keep-failed-prompts", "at least 24h"}},
		{"no time at all", nil, nil, "slot-wait: 0s\n", []string{"slot-wait", "more than 0"}},
		{"nothing without a unit in a flag", []string{"--drain-timeout", "0"}, nil, "", []string{"--drain-timeout",
			"such as 0s"}},
		{"nothing without a unit in a variable", nil, map[string]string{"IMAGEGEND_DRAIN_TIMEOUT": "0"}, "",
			[]string{"IMAGEGEND_DRAIN_TIMEOUT", "such as 0s"}},
		{"nothing without a unit in the file", nil, nil, "retain: 0\n", []string{"settings.yaml:1:9: retain",
			"such as 0s"}},
		{"unknown key", nil, nil, "addr: ':1'\ndata_dir: x\n", []string{"settings.yaml:2", `"data_dir"`, `"data-dir"`}},
		{"unknown key near to none", nil, nil, "port: 8080\n",
			[]string{`settings.yaml:1:1: unknown key "port"; there are: acme-directory, acme-domain, acme-email, addr, api-key, `, ", url"}},
		{"key in capitals", nil, nil, "Addr: ':1'\n", []string{`unknown key "Addr"`, `"addr"`}},
		{"key twice", nil, nil, "addr: a\naddr: b\n",
			[]string{`settings.yaml:2:1: key "addr" stands at line 1 already`}},
		{"nested", nil, nil, "addr: {host: x}\n", []string{"addr", "plain value"}},
		{"list for one", nil, nil, "addr: [a, b]\n", []string{"addr", "not a list"}},
		{"list in a list", nil, nil, "ref: [[a]]\n", []string{"settings.yaml:1:6: ref", "plain values"}},
		{"circle", nil, nil, "ref: &a [*a]\n", []string{"settings.yaml:1:6: ref", "plain values"}},
		{"no settings", nil, nil, "hello\n", []string{"settings.yaml:1", "write settings such as"}},
		{"no YAML", nil, nil, "a: b: c\n", []string{"settings.yaml: this is not YAML: mapping values are not allowed"}},
		{"no YAML below a key", nil, nil, "addr:\n  a: 1\n  a: 2\n",
			[]string{"settings.yaml:3:3: key \"a\" stands at line 2 already"}},
		{"second document", nil, nil, "addr: ':1'\n\n---\nport: 8080\n",
			[]string{"settings.yaml:3:1: a second YAML document"}},
		{"second document that is not YAML", nil, nil, "addr: ':1'\n---\nport: [\n",
			[]string{"settings.yaml: this is not YAML near line 3"}},
		{"octal number", nil, nil, "concurrency: 0o10\n", []string{`settings.yaml:1:14: concurrency: "0o10"`,
			"whole number"}},
		{"address of nothing", []string{"--addr", "foo"}, nil, "", []string{"--addr", "127.0.0.1:8080"}},
		{"port that there is not", []string{"--addr", ":99999"}, nil, "", []string{"--addr", "65535"}},
		{"port with a slip", nil, nil, "addr: 127.0.0.1:80x\n", []string{"settings.yaml:1:7: addr", "65535"}},
		{"port for the address of operators", []string{"--ops-addr", "9090"}, nil, "",
			[]string{"--ops-addr", ":9090 for this machine only"}},
		{"words for a header", []string{"--person-header", "X User"}, nil, "", []string{"--person-header",
			"the name of a header"}},
		{"path for an origin", []string{"--cors-origin", "https://app.example.com/"}, nil, "", []string{"--cors-origin",
			"an origin such as https://app.example.com"}},
		{"host for an origin", nil, map[string]string{"IMAGEGEND_CORS_ORIGIN": "*,app.example.com"}, "",
			[]string{"IMAGEGEND_CORS_ORIGIN", "an origin such as"}},
		{"pattern for an origin", nil, nil, "cors-origin: ['https://*.example.com']\n",
			[]string{"settings.yaml:1:14: cors-origin", "an origin such as"}},
		{"origin in capitals", []string{"--cors-origin", "https://App.example.com"}, nil, "",
			[]string{"as browsers write it: https://app.example.com"}},
		{"port that browsers leave out", []string{"--cors-origin", "https://app.example.com:443"}, nil, "",
			[]string{"as browsers write it: https://app.example.com"}},
		{"no number", nil, map[string]string{"IMAGEGEND_CONCURRENCY": "many"}, "", []string{"IMAGEGEND_CONCURRENCY",
			"whole number"}},
		{"no truth", nil, map[string]string{"IMAGEGEND_DEV": "maybe"}, "", []string{"IMAGEGEND_DEV", "true or false"}},
		{"no choice", nil, nil, "policy: cheap\n", []string{"policy", "size-first, quality-first"}},
		{"no address", []string{"--base-url", "images.example.com"}, nil, "",
			[]string{"--base-url", "https://images.example.com"}},
		{"empty query", []string{"--base-url", "https://x?"}, nil, "",
			[]string{"--base-url", "https://images.example.com"}},
		{"empty fragment", nil, nil, "url: 'https://x#'\n", []string{"settings.yaml:1:6: url",
			"https://images.example.com"}},
		{"no network", nil, nil, "trusted-proxy: [proxy]\n", []string{"trusted-proxy", "10.0.0.0/8"}},
		{"named file missing", []string{"--config", "nowhere.yaml"}, nil, "", []string{"nowhere.yaml", "no such file"}},
		{"sign for a currency", []string{"--currency", "€"}, nil, "", []string{"--currency", "such as EUR"}},
		{"currency in small letters", nil, nil, "currency: eur\n", []string{"settings.yaml:1:11: currency",
			"three capital letters"}},
		{"credit of no value", []string{"--credit-value", "0.000"}, nil, "", []string{"--credit-value", "above 0"}},
		{"credit below nothing", nil, nil, "credit-value: -0.01\n", []string{"settings.yaml:1:15: credit-value",
			"above 0"}},
		{"cost of nothing", []string{"--cost-notify-above", "0"}, nil, "", []string{"--cost-notify-above", "above 0"}},
		{"part of a millionth", nil, map[string]string{"IMAGEGEND_CREDIT_VALUE": "0.0000001"}, "",
			[]string{"IMAGEGEND_CREDIT_VALUE", "at most six decimals, such as 0.01"}},
		{"value with a comma", nil, map[string]string{"IMAGEGEND_CREDIT_VALUE": "0,01"}, "",
			[]string{"IMAGEGEND_CREDIT_VALUE", "such as 0.01"}},
		{"several at once", nil, nil, "policy: cheap\nretain: 5\n", []string{"policy", "retain"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			_, _, _, err := load(t, test.args, test.env, test.file)
			is.True(err != nil)
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

// The scheme tells whether the console is served over TLS.
func TestSchemeInCapitals(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	s, _, _, err := load(t, []string{"--base-url", "HTTPS://Images.example.com/Sub/"}, nil, "")
	is.NoErr(err)
	is.Equal(s.BaseURL, "https://Images.example.com/Sub")
}

// A key that stands where it cannot is not repeated.
func TestWrongAPIKeyIsNotShown(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	_, _, _, err := load(t, nil, nil, "api-key: [img_live_secret]\n")
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "settings.yaml:1:10: api-key: its value is not valid: one value is wanted"))
	is.True(!strings.Contains(err.Error(), "img_live_secret"))
}

// A value that config shows can be written into the file.
func TestNoTimeAtAll(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	s, sources, fs, err := load(t, []string{"--drain-timeout", "0s"}, nil, "retain: 0s\n")
	is.NoErr(err)
	is.Equal(s.Retain, time.Duration(0))
	is.Equal(s.DrainTimeout, time.Duration(0))
	for _, e := range sources.Effective(fs) {
		if e.Key == "retain" {
			is.Equal(e.Value, "never")
		}
	}
}

// YAML would make a time, numbers, a truth and nothing of these.
func TestValuesAreReadAsTheyAreWritten(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	s, _, _, err := load(t, nil, nil, `---
data-dir: 2026-11-21
operator-name: 0x10
model: 1e3
output: True
size: "null"
ref: [010, 1.50, &day 2026-11-21, *day]
concurrency: 010
operator-password-file: ~
`)
	is.NoErr(err)
	is.Equal(s.DataDir, "2026-11-21")
	is.Equal(s.OperatorName, "0x10")
	is.Equal(s.Model, "1e3")
	is.Equal(s.Output, "True")
	is.Equal(s.Size, "null")
	is.Equal(s.References, []string{"010", "1.50", "2026-11-21", "2026-11-21"})
	is.Equal(s.Concurrency, 10)
	is.Equal(s.OperatorPasswordFile, "") // a key without a value is none
}

func TestDefaultFiles(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	_, sources, _, err := load(t, nil, nil, "")
	is.NoErr(err)
	is.Equal(sources.File, "")
	models, err := sources.ModelsFile("")
	is.NoErr(err)
	is.Equal(models, "") // there is none

	is.NoErr(os.WriteFile("imagegend.yaml", []byte("addr: ':9'\n"), 0o600))
	is.NoErr(os.WriteFile("models.yaml", nil, 0o600))
	s, sources, _, err := load(t, nil, nil, "")
	is.NoErr(err)
	is.Equal(s.Addr, ":9")
	models, err = sources.ModelsFile("")
	is.NoErr(err)
	is.Equal(models, "models.yaml")
	models, err = sources.ModelsFile("elsewhere.yaml")
	is.NoErr(err)
	is.Equal(models, "elsewhere.yaml")
}

// A file that lies in the directory where somebody happens to work neither gets the key nor names one, nor
// the files that are read and written.
func TestPlantedFile(t *testing.T) {
	for _, planted := range []string{"url: http://evil.example:1", "api-key: theirs", "output: /etc/passwd",
		"ref: [/etc/passwd]"} {
		t.Run(planted, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			is.NoErr(os.WriteFile("imagegend.yaml", []byte("model: m\n"+planted+"\n"), 0o600))
			setting, _, _ := strings.Cut(planted, ":")
			_, _, _, err := load(t, nil, nil, "")
			is.True(err != nil)
			for _, want := range []string{"imagegend.yaml: " + setting + " counts only in a file that you name",
				"--config imagegend.yaml", config.EnvName(setting)} {
				is.True(strings.Contains(err.Error(), want))
			}
			s, _, _, err := load(t, []string{"--config", "imagegend.yaml"}, nil, "")
			is.NoErr(err)
			is.True(s.URL+s.APIKey+s.Output+strings.Join(s.References, "") != config.DefaultURL)
			s, _, _, err = load(t, nil, map[string]string{config.EnvName(setting): "https://mine.example"}, "")
			is.NoErr(err) // what is said elsewhere counts before it
			is.Equal(s.Model, "m")
		})
	}
}

func TestFilesThatEverybodyCanChange(t *testing.T) {
	for _, name := range []string{"imagegend.yaml", "models.yaml"} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			is.NoErr(os.WriteFile(name, nil, 0o600))
			is.NoErr(os.Chmod(name, 0o666))
			_, sources, _, err := load(t, nil, nil, "")
			if name == "models.yaml" {
				is.NoErr(err)
				_, err = sources.ModelsFile("")
			}
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), name) &&
				strings.Contains(err.Error(), "everybody can change it (mode 0666); if you trust it, name it with --"))
		})
	}
}

func TestSecretsAreRedacted(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	_, sources, fs, err := load(t, nil, map[string]string{"IMAGEGEND_API_KEY": "img_live_secret"}, "")
	is.NoErr(err)
	for _, e := range sources.Effective(fs) {
		is.True(!strings.Contains(e.Value, "secret"))
	}
}

func TestEverySettingHasAVariable(t *testing.T) {
	is := is.New(t)
	var s config.Settings
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.AllFlags(fs)
	config.DeclareFile(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		is.Equal(config.Variable(f), config.EnvName(f.Name))
	})
}

func TestDurations(t *testing.T) {
	for given, want := range map[string]string{"30d": "720h", "1d12h": "36h", "90m": "1h30m", "2d0s": "48h"} {
		t.Run(given, func(t *testing.T) {
			is := is.New(t)
			s, _, _, err := load(t, []string{"--join-window", given}, nil, "")
			is.NoErr(err)
			d, err := time.ParseDuration(want)
			is.NoErr(err)
			is.Equal(s.JoinWindow, d)
		})
	}
	for _, given := range []string{"d", "1.5d", "-1d", "1d-1h", "1d24h", "12h1d", "1dd", "106752d",
		"99999999999999999999d", "1 d"} {
		t.Run(given, func(t *testing.T) {
			_, _, _, err := load(t, nil, map[string]string{"IMAGEGEND_JOIN_WINDOW": given}, "")
			is.New(t).True(err != nil && strings.Contains(err.Error(), "30d"))
		})
	}
	t.Run("never", func(t *testing.T) {
		is := is.New(t)
		s, _, _, err := load(t, []string{"--join-window", "never"}, nil, "retain: never\ntrail-retain: never\n")
		is.NoErr(err)
		is.True(s.JoinWindow == 0 && s.Retain == 0 && s.TrailRetain == 0)
		_, _, _, err = load(t, []string{"--slot-wait", "never"}, nil, "")
		is.True(err != nil) // of which 0 is none
	})
}
