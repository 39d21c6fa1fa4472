package main_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// finding is a line of imagegend doctor.
type finding struct{ Check, State, Detail, Remedy string }

// doctor runs imagegend doctor in a directory and returns the finding of each check.
func doctor(t *testing.T, dir string, env []string, args ...string) (findings map[string]finding, stderr string, status int) {
	t.Helper()
	stdout, stderr, status := command(t, dir, env, append([]string{"doctor", "--json"}, args...)...)
	var list []finding
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	findings = make(map[string]finding)
	failed := 0
	for _, f := range list {
		findings[f.Check] = f
		if f.State == "fail" {
			failed++
		}
	}
	if (failed > 0) != (status == 1) || status > 1 {
		t.Errorf("exit status %d with %d failures", status, failed)
	}
	return findings, stderr, status
}

// finds checks what a check has found.
func (f finding) finds(t *testing.T, state, detail, remedy string) {
	t.Helper()
	if f.State != state || !strings.Contains(f.Detail, detail) || !strings.Contains(f.Remedy, remedy) {
		t.Errorf("got %+v, want %s: %q, and to do %q", f, state, detail, remedy)
	}
}

var fakeModels = []string{"--models", "fake", "--data-dir", "data"}

// made is a working directory with a data directory "data" that nobody has open; ahead is by how much the
// clock was fast when it was made.
func made(t *testing.T, ahead time.Duration) (dir, data string) {
	t.Helper()
	is := is.New(t)
	dir = t.TempDir()
	data = filepath.Join(dir, "data")
	db, err := storage.Open(data, &storage.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
	is.NoErr(err)
	_, err = db.Grant(t.Context(), imagegen.Grant{User: "usr_1", Credits: 1})
	is.NoErr(err)
	is.NoErr(db.Close())
	return dir, data
}

func TestDoctorOfAHealthyService(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{DataDir: filepath.Join(t.TempDir(), "data")})
	healthy := func(database string) {
		t.Helper()
		findings, stderr, status := doctor(t, t.TempDir(), nil, "--models", "fake", "--data-dir", d.DataDir)
		is.Equal(status, 0)
		is.Equal(stderr, "")
		for _, check := range []string{"configuration", "directory", "disk", "clock", "images", "model fake-1", "base url", "proxy headers"} {
			findings[check].finds(t, "ok", "", "")
		}
		findings["database"].finds(t, "ok", database, "")
		is.Equal(len(findings), 10) // and the time of day, which nothing may keep right here
		left, err := os.ReadDir(filepath.Join(d.DataDir, "tmp"))
		is.NoErr(err)
		is.Equal(len(left), 0)
	}
	healthy("the server that runs has it open")
	is.Equal(d.Terminate(drainLimit), 0)
	healthy("no server runs")
}

func TestDoctorOfTheConfiguration(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	findings, stderr, _ := doctor(t, t.TempDir(), []string{"IMAGEGEND_ADDR=nowhere"})
	is.Equal(len(findings), 1)
	findings["configuration"].finds(t, "fail", "IMAGEGEND_ADDR", "put it right")
	says(t, stderr, "1 of 1 check failed")

	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "imagegend.yaml"), []byte("adr: 127.0.0.1:0\n"), 0o600))
	findings, _, _ = doctor(t, dir, nil)
	findings["configuration"].finds(t, "fail", `imagegend.yaml:1:1: unknown key "adr"`, "put it right")

	_, stderr, status := command(t, dir, nil, "doctor", "--adr")
	is.Equal(status, 2) // a command line that cannot be meant so is no finding
	says(t, stderr, "--addr")
}

func TestDoctorOfTheDirectory(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	findings, _, _ := doctor(t, t.TempDir(), nil, fakeModels...)
	findings["directory"].finds(t, "warn", "there is no data yet", "--data-dir")

	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "data"), nil, 0o600))
	findings, _, _ = doctor(t, dir, nil, fakeModels...)
	findings["directory"].finds(t, "fail", "data is no directory", "--data-dir")

	dir, data := made(t, 0)
	is.NoErr(os.Chmod(data, 0o755))
	findings, _, _ = doctor(t, dir, nil, fakeModels...)
	findings["directory"].finds(t, "warn", "0755", "chmod 700 data")
	is.NoErr(os.Chmod(data, 0o777))
	findings, _, _ = doctor(t, dir, nil, fakeModels...)
	findings["directory"].finds(t, "fail", "everybody can change the data directory data", "chmod 700 data")
	is.NoErr(os.Chmod(data, 0o700))
	is.NoErr(os.Chmod(filepath.Join(data, "imagegen.db"), 0o644))
	findings, _, _ = doctor(t, dir, nil, fakeModels...)
	findings["directory"].finds(t, "warn", "0644", "chmod 600 data/imagegen.db")
}

func TestDoctorOfTheClock(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir, _ := made(t, 48*time.Hour)
	findings, _, status := doctor(t, dir, nil, fakeModels...)
	is.Equal(status, 0) // the service works
	findings["clock"].finds(t, "warn", "in doubt: the clock is 4", "imagegend clock confirm")

	dir, data := made(t, 0)
	later := time.Now().Add(time.Hour)
	is.NoErr(os.Chtimes(filepath.Join(data, "imagegen.db"), later, later))
	d := daemontest.Start(t, daemontest.Options{DataDir: data})
	is.NoErr(os.Chtimes(filepath.Join(data, "imagegen.db"), later, later))
	findings, _, _ = doctor(t, dir, nil, fakeModels...)
	findings["clock"].finds(t, "warn", "behind the time at which the database was written", "set the clock right")
	d.Kill()
}

func TestDoctorOfTheDatabase(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir, data := made(t, 0)
	is.NoErr(os.Truncate(filepath.Join(data, "imagegen.db"), 5000))
	findings, _, _ := doctor(t, dir, nil, fakeModels...)
	findings["database"].finds(t, "fail", "damaged", "restore a backup")

	dir = t.TempDir()
	is.NoErr(os.Mkdir(filepath.Join(dir, "data"), 0o700))
	findings, _, status := doctor(t, dir, nil, fakeModels...)
	is.Equal(status, 0)
	findings["database"].finds(t, "warn", "none yet", "imagegend serve makes it")

	is.NoErr(os.WriteFile(filepath.Join(dir, "data", "letter.txt"), nil, 0o600))
	findings, _, _ = doctor(t, dir, nil, fakeModels...)
	findings["database"].finds(t, "fail", "no imagegen.db", "--data-dir")
}

func TestDoctorOfTheImages(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	tmp := filepath.Join(d.DataDir, "tmp")
	is.NoErr(os.Remove(tmp))
	examine := func() finding {
		findings, _, _ := doctor(t, t.TempDir(), nil, "--models", "fake", "--data-dir", d.DataDir)
		findings["database"].finds(t, "ok", "the server that runs", "")
		return findings["images"]
	}
	examine().finds(t, "fail", "there is no "+tmp, "start imagegend serve again")
	is.NoErr(os.WriteFile(tmp, nil, 0o600))
	examine().finds(t, "fail", tmp+" is no directory", "move it away")
}

func TestDoctorOfTheModels(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "bad key", http.StatusUnauthorized)
	}))
	defer upstream.Close()
	dir := t.TempDir()
	write := func(text string) {
		is.NoErr(os.WriteFile(filepath.Join(dir, "models.yaml"), []byte(text), 0o600))
	}
	write("models:\n  - {id: stranger, provider: {type: openai, base_url: \"" + upstream.URL + "/v1\", private: true, key_env: KEY}, credits: {1K: 1}}\n" +
		"  - {id: picture, provider: {type: fake}, credits: {1K: 1}}\n")
	findings, _, status := doctor(t, dir, []string{"KEY=secret-of-mine"}, "--data-dir", "data")
	is.Equal(status, 1)
	findings["model stranger"].finds(t, "fail", "refused the API key", "imagegend provider check stranger")
	findings["model picture"].finds(t, "ok", "", "")
	is.True(!strings.Contains(findings["model stranger"].Detail, "secret-of-mine"))

	write("models: 7\n")
	findings, _, _ = doctor(t, dir, nil, "--data-dir", "data")
	findings["models"].finds(t, "fail", "models.yaml", "put the models file right")

	findings, _, _ = doctor(t, t.TempDir(), nil, "--data-dir", "data")
	findings["models"].finds(t, "fail", "there are no models", "")
}

func TestDoctorOfTheNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, check, state, detail, remedy string }{
		{"--addr 0.0.0.0:8080", "base url", "warn", "Host", "--base-url"},
		{"--base-url http://images.example.com", "base url", "warn", "in clear", "https"},
		{"--base-url https://images.example.com", "proxy headers", "warn", "those of nobody count", "--trusted-proxy"},
		{"--base-url https://images.example.com --trusted-proxy 0.0.0.0/0", "proxy headers", "fail", "any address", "in place of 0.0.0.0/0"},
		{"--base-url https://images.example.com --trusted-proxy 10.0.0.7", "proxy headers", "ok", "10.0.0.7", ""},
	} {
		findings, _, _ := doctor(t, t.TempDir(), nil, append(strings.Fields(c.args), fakeModels...)...)
		findings[c.check].finds(t, c.state, c.detail, c.remedy)
	}
}

func TestDoctorForPeople(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	stdout, stderr, status := command(t, t.TempDir(), nil, append([]string{"doctor", "--trusted-proxy", "::/0"}, fakeModels...)...)
	is.Equal(status, 1)
	says(t, stderr, "imagegend: something is wrong: 1 of 6 checks failed\n")
	says(t, stdout, "ok    configuration  no file", "warn  directory      there is no data yet\n                     -> imagegend serve makes it",
		"fail  proxy headers  those of everybody count")
}
