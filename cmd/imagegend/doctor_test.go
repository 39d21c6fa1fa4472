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

// finding is a line of imagegend doctor.
type finding struct{ Check, State, Detail, Remedy string }

// doctor runs imagegend doctor in a directory and returns the finding of each check.
func doctor(t *testing.T, dir string, env []string, args ...string) (findings map[string]finding, stderr string,
	status int) {
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

var fakeModels = []string{"--models", "fake", "--data-dir", "data", "--addr", "127.0.0.1:0"}

func TestDoctorOfAHealthyService(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{DataDir: filepath.Join(t.TempDir(), "data")})
	healthy := func(database string) {
		t.Helper()
		findings, stderr, status := doctor(t, t.TempDir(), nil, "--models", "fake", "--data-dir", d.DataDir, "--addr",
			"127.0.0.1:0")
		is.Equal(status, 0)
		is.Equal(stderr, "")
		for _, check := range []string{"configuration", "directory", "disk", "clock", "images", "backup",
			"model fake-1", "address", "base url", "proxy headers"} {
			findings[check].finds(t, "ok", "", "")
		}
		findings["database"].finds(t, "ok", database, "")
		// with the program, for which any Go will do here, and the time of day, which nothing may keep right here
		is.Equal(len(findings), 13)
		left, err := os.ReadDir(filepath.Join(d.DataDir, "tmp"))
		is.NoErr(err)
		is.Equal(len(left), 0)
	}
	healthy("the server that runs has it open")
	is.Equal(d.Terminate(drainLimit), 0)
	healthy("no server runs")
}

func TestDoctorForPeople(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	stdout, stderr, status := command(t, t.TempDir(), nil, append([]string{"doctor", "--trusted-proxy", "::/0"},
		fakeModels...)...)
	is.Equal(status, 1)
	says(t, stderr, "imagegend: something is wrong: 1 of 8 checks failed\n")
	says(t, stdout, "ok    configuration  no file",
		"warn  directory      there is no data yet\n                     -> imagegend serve makes it",
		"fail  proxy headers  those of everybody count")
}

// Wrong usage is an error and not a finding.
func TestDoctorOfAWrongCommandLine(t *testing.T) {
	t.Parallel()
	_, stderr, status := command(t, t.TempDir(), nil, "doctor", "--adr")
	is.New(t).Equal(status, 2)
	says(t, stderr, "--addr")
}

// config validate finds what doctor does, and touches neither data nor upstream.
func TestConfigValidate(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPatient(t)
	p.write("models.yaml",
		model("stranger", "openai, base_url: \"http://127.0.0.1:9/v1\", private: true, key_env: KEY"))
	stdout, stderr, status := command(t, p.dir, []string{"KEY=of-nobody"}, "config", "validate", "--data-dir", "data")
	is.Equal(status, 0)
	is.Equal(stderr, "")
	says(t, stdout, "ok    configuration   no file",
		"ok    model stranger  openai: on offer; its upstream was not asked", "ok    base url")
	left, err := os.ReadDir(p.dir)
	is.NoErr(err)
	is.Equal(len(left), 1)

	stdout, stderr, status = command(t, p.dir, nil, "config", "validate", "--json")
	is.Equal(status, 1)
	says(t, stdout, "the environment variable KEY is not set")
	says(t, stderr, "1 of 5 checks failed")
	_, stderr, status = command(t, p.dir, []string{"IMAGEGEND_RETAIN=1h"}, "config", "validate")
	is.Equal(status, 1)
	says(t, stderr, "1 of 2 checks failed")
}
