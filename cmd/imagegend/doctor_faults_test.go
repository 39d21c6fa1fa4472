package main_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// patient is a service that doctor looks at: what stands in its working directory, its data in "data" there,
// its environment and the arguments that serve would have.
type patient struct {
	t         *testing.T
	dir, data string
	env, args []string
}

func newPatient(t *testing.T) *patient {
	dir := t.TempDir()
	return &patient{t: t, dir: dir, data: filepath.Join(dir, "data")}
}

// born gives the patient data; ahead is by how much the clock was fast then.
func (p *patient) born(ahead time.Duration) *patient {
	p.t.Helper()
	is := is.New(p.t)
	db, err := storage.Open(p.data, &storage.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
	is.NoErr(err)
	_, err = db.Grant(p.t.Context(), imagegen.Grant{User: "usr_1", Credits: 1})
	is.NoErr(err)
	is.NoErr(db.Close())
	return p
}

func (p *patient) write(name, text string) {
	p.t.Helper()
	is.New(p.t).NoErr(os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}

func (p *patient) mode(name string, mode os.FileMode) {
	p.t.Helper()
	is.New(p.t).NoErr(os.Chmod(filepath.Join(p.dir, name), mode))
}

func (p *patient) serve() *daemontest.Daemon {
	p.t.Helper()
	return daemontest.Start(p.t, daemontest.Options{DataDir: p.data})
}

// fake has the patient serve test pictures: what is planted lies elsewhere.
func (p *patient) fake(args ...string) { p.args = append([]string{"--models", "fake"}, args...) }

// model is a models file with one model; provider is the type of its provider, and what else that has.
func model(id, provider string) string {
	return "models:\n  - {id: " + id + ", provider: {type: " + provider + "}, credits: {1K: 1}}\n"
}

// upstream is a provider that answers all with a status.
func (p *patient) upstream(status int) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"error":{"message":"no"}}`, status)
	}))
	p.t.Cleanup(s.Close)
	p.atUpstream(s.URL)
}

func (p *patient) atUpstream(address string) {
	p.env = append(p.env, "KEY=secret-of-mine")
	p.write("models.yaml", model("stranger", `openai, base_url: "`+address+`/v1", private: true, key_env: KEY`))
}

// taken is an address on which somebody else listens.
func taken(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.New(t).NoErr(err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// nobody is an address on which nobody listens.
func nobody(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.New(t).NoErr(err)
	defer l.Close()
	return l.Addr().String()
}

// fault is something that is wrong, and what doctor is to say of it.
type fault struct {
	name                         string
	plant                        func(t *testing.T, p *patient)
	check, state, detail, remedy string
}

func faults() []fault {
	return slices.Concat(faultsOfSettings(), faultsOfData(), faultsOfModels(), faultsOfTheNetwork())
}

func faultsOfSettings() []fault {
	return []fault{
		{"a variable that does not do", func(t *testing.T, p *patient) {
			p.fake()
			p.env = []string{"IMAGEGEND_RETAIN=1h"}
		},
			"configuration", "fail", "IMAGEGEND_RETAIN", "put it right"},
		{"a misspelt key", func(t *testing.T, p *patient) { p.fake(); p.write("imagegend.yaml", "adr: 127.0.0.1:0\n") },
			"configuration", "fail", `imagegend.yaml:1:1: unknown key "adr"`, "put it right"},
		{"a configuration file that is gone", func(t *testing.T, p *patient) { p.fake("--config", "gone.yaml") },
			"configuration", "fail", "gone.yaml", "put it right"},
		{"a password that others can read", func(t *testing.T, p *patient) {
			p.write("password", "correct horse battery")
			p.mode("password", 0o644)
			p.fake("--operator-password-file", "password")
		}, "operator password", "warn", "others can read or change password (mode 0644)", "chmod 600 password"},
		{"a password file that is gone", func(t *testing.T, p *patient) { p.fake("--operator-password-file", "gone") },
			"operator password", "warn", "gone", "until there is an operator"},
		{"passkeys without an address", func(t *testing.T, p *patient) { p.fake("--require-passkey", "operators") },
			"sign-in", "fail", "--require-passkey needs --base-url", "serve refuses them"},
		{"a provider that is down", func(t *testing.T, p *patient) {
			p.fake("--oidc-issuer", "http://"+nobody(t), "--oidc-client-id", "x")
		}, "oidc issuer", "warn", "does not tell of itself", "nobody signs in by it"},
	}
}

func faultsOfData() []fault {
	later := time.Now().Add(time.Hour)
	return []fault{
		{"no data", func(t *testing.T, p *patient) { p.fake() }, "directory", "warn", "there is no data yet",
			"--data-dir"},
		{"a file for a directory", func(t *testing.T, p *patient) { p.fake(); p.write("data", "") },
			"directory", "fail", "data is not a directory", "--data-dir"},
		{"others can enter", func(t *testing.T, p *patient) { p.fake(); p.born(0).mode("data", 0o755) },
			"directory", "warn", "0755", "chmod 700 data"},
		{"everybody can change the directory", func(t *testing.T, p *patient) {
			p.fake()
			p.born(0).mode("data", 0o777)
		},
			"directory", "fail", "everybody can change the data directory data", "chmod 700 data"},
		{"others can read the database", func(t *testing.T, p *patient) {
			p.fake()
			p.born(0).mode("data/imagegen.db", 0o644)
		},
			"directory", "warn", "0644", "chmod 600 data/imagegen.db"},
		{"a database that is cut off", func(t *testing.T, p *patient) {
			p.fake()
			is.New(t).NoErr(os.Truncate(filepath.Join(p.born(0).data, "imagegen.db"), 5000))
		}, "database", "fail", "damaged", "restore a backup"},
		{"an empty directory", func(t *testing.T, p *patient) { p.fake(); is.New(t).NoErr(os.Mkdir(p.data, 0o700)) },
			"database", "warn", "none yet", "imagegend serve makes it"},
		{"the directory of something else", func(t *testing.T, p *patient) {
			p.fake()
			is.New(t).NoErr(os.Mkdir(p.data, 0o700))
			p.write("data/letter.txt", "")
		}, "database", "fail", "no imagegen.db", "--data-dir"},
		{"a process that holds the database and answers nobody", func(t *testing.T, p *patient) {
			p.fake()
			db, err := storage.Open(p.data, nil)
			is.New(t).NoErr(err)
			t.Cleanup(func() { db.Close() })
		}, "database", "fail", "nobody answers on its admin socket", "no other process holds it"},
		{"the clock is behind what was written", func(t *testing.T, p *patient) { p.fake(); p.born(48 * time.Hour) },
			"clock", "warn", "in doubt: the clock is 4", "imagegend clock confirm"},
		{"the clock is behind the file system", func(t *testing.T, p *patient) {
			p.fake()
			p.born(0).serve() // which keeps doctor from opening the file
			is.New(t).NoErr(os.Chtimes(filepath.Join(p.data, "imagegen.db"), later, later))
		}, "clock", "warn", "behind the time at which the database was written", "set the clock right"},
		{"nowhere to write images", func(t *testing.T, p *patient) {
			p.fake()
			p.serve()
			is.New(t).NoErr(os.Remove(filepath.Join(p.data, "tmp")))
		}, "images", "fail", "there is no data/tmp", "start imagegend serve again"},
		{"a file where images are written", func(t *testing.T, p *patient) {
			p.fake()
			p.serve()
			is.New(t).NoErr(os.Remove(filepath.Join(p.data, "tmp")))
			p.write("data/tmp", "")
		}, "images", "fail", "data/tmp is not a directory", "move it away"},
		{"no backup yet", func(t *testing.T, p *patient) {
			p.fake("--backup-to", ".")
			p.born(0)
		}, "backup", "warn", "there is none yet", "--backup-to"},
		{"a backup that is old", func(t *testing.T, p *patient) {
			p.fake("--backup-to", ".", "--backup-every", "12h")
			p.born(0).write("imagegend-20260101T000000.000Z.tar", "")
		}, "backup", "fail", "made every 12h0m0s, and the last good one is of 2026-01-01T00:00:00Z",
			"imagegend backup FILE"},
		{"backups that fail", func(t *testing.T, p *patient) {
			p.fake()
			is := is.New(t)
			d := daemontest.Start(t, daemontest.Options{DataDir: p.data, Args: []string{"--backup-to",
				filepath.Join(p.dir, "backups"), "--backup-every", "1s"}})
			_, key := d.NewUser(10)
			is.Equal(d.Call(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox"})).Status,
				http.StatusOK)
			is.NoErr(os.RemoveAll(filepath.Join(p.data, "images")))
			until(t, "the backup failed", func() bool { return strings.Contains(d.Output(), "the backup failed") })
		}, "backup", "fail", "is missing", "the log of the server"},
	}
}

func faultsOfModels() []fault {
	return []fault{
		{"no models", func(t *testing.T, p *patient) {}, "models", "fail", "there are no models",
			"put the models file right"},
		{"a models file that cannot be read", func(t *testing.T, p *patient) { p.write("models.yaml", "models: 7\n") },
			"models", "fail", "models.yaml", "put the models file right"},
		{"a key that is not set", func(t *testing.T, p *patient) {
			p.write("models.yaml", model("m", "openai, key_env: NO_KEY"))
		},
			"models", "fail", "NO_KEY is not set", "put the models file right"},
		{"a key that others can read", func(t *testing.T, p *patient) {
			p.write("key", "secret-of-mine")
			p.mode("key", 0o644)
			p.write("models.yaml", model("m", "openai, key_file: key"))
		}, "models", "fail", "chmod 600 key", "put the models file right"},
		{"an upstream that refuses the key", func(t *testing.T, p *patient) { p.upstream(http.StatusUnauthorized) },
			"model stranger", "fail", "refused the API key", "imagegend provider check stranger"},
		{"an upstream that is down", func(t *testing.T, p *patient) { p.atUpstream("http://" + nobody(t)) },
			"model stranger", "fail", "connection refused", "imagegend provider check stranger"},
		{"an upstream that fails", func(t *testing.T, p *patient) { p.upstream(http.StatusInternalServerError) },
			"model stranger", "fail", "500", "imagegend provider check stranger"},
	}
}

func faultsOfTheNetwork() []fault {
	return []fault{
		{"an address that somebody has", func(t *testing.T, p *patient) { p.fake("--addr", taken(t)) },
			"address", "fail", "address already in use", "end what listens there"},
		{"an address for operators that somebody has", func(t *testing.T, p *patient) {
			p.fake("--ops-addr", taken(t))
		},
			"ops address", "fail", "address already in use", "--ops-addr"},
		{"an address of another machine", func(t *testing.T, p *patient) { p.fake("--addr", "192.0.2.1:8080") },
			"address", "fail", "192.0.2.1:8080", "choose an address that this machine has"},
		{"a certificate that is gone", func(t *testing.T, p *patient) {
			p.fake("--tls-cert", "gone.pem", "--tls-key", "gone.key")
		},
			"certificate", "fail", "gone.pem", "--tls-cert"},
		{"a certificate that has expired", func(t *testing.T, p *patient) {
			a := newAuthority(t)
			a.lasts = -time.Hour
			certificate, key := a.issue(p.dir, 2)
			p.fake("--tls-cert", certificate, "--tls-key", key)
		}, "certificate", "fail", "has expired", "renew it"},
		{"addresses that follow the caller", func(t *testing.T, p *patient) { p.fake("--addr", "0.0.0.0:0") },
			"base url", "warn", "Host", "--base-url"},
		{"a public address without TLS", func(t *testing.T, p *patient) {
			p.fake("--base-url", "http://images.example.com")
		},
			"base url", "warn", "in the clear", "https"},
		{"a proxy that nobody trusts", func(t *testing.T, p *patient) {
			p.fake("--base-url", "https://images.example.com")
		},
			"proxy headers", "warn", "those of nobody count", "--trusted-proxy"},
		{"every proxy is trusted", func(t *testing.T, p *patient) {
			p.fake("--base-url", "https://images.example.com", "--trusted-proxy", "0.0.0.0/0")
		}, "proxy headers", "fail", "any address", "in place of 0.0.0.0/0"},
	}
}

// Doctor finds each planted fault, and says what to do.
func TestDoctorFindsPlantedFaults(t *testing.T) {
	t.Parallel()
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			f.plant(t, p)
			findings, _, _ := doctor(t, p.dir, p.env, append([]string{"--data-dir", "data", "--addr", "127.0.0.1:0"},
				p.args...)...)
			findings[f.check].finds(t, f.state, f.detail, f.remedy)
			for _, other := range findings {
				if other.State != "ok" && other.Remedy == "" || strings.Contains(other.Detail, "secret-of-mine") {
					t.Errorf("%+v", other)
				}
			}
		})
	}
}

// Doctor does not report a proxy that is named.
func TestDoctorOfATrustedProxy(t *testing.T) {
	t.Parallel()
	findings, _, _ := doctor(t, t.TempDir(), nil, append(fakeModels, "--base-url", "https://images.example.com",
		"--trusted-proxy", "10.0.0.7")...)
	findings["proxy headers"].finds(t, "ok", "10.0.0.7", "")
}
