package conformance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// program runs the built program.
type program struct {
	dir   string   // to run in; "": a new one
	env   []string // of the variables IMAGEGEND_… only these
	stdin string
}

// result is what a run of the program came to.
type result struct {
	stdout, stderr string
	status         int
}

func (p program) run(t *testing.T, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), daemontest.Build(t), args...)
	cmd.Dir = p.dir
	if cmd.Dir == "" {
		cmd.Dir = t.TempDir()
	}
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "IMAGEGEND_") }),
		p.env...)
	cmd.Stdin = strings.NewReader(p.stdin)
	stdout, stderr, status := daemontest.Run(t, cmd)
	return result{stdout, stderr, status}
}

// succeeds checks the exit status.
func (r result) succeeds(t *testing.T) result {
	t.Helper()
	if r.status != 0 {
		t.Fatalf("exit status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	return r
}

// fails checks the exit status, and that there is one line on standard error, which mentions some
// words, and nothing on standard output.
func (r result) fails(t *testing.T, status int, mentions ...string) {
	t.Helper()
	if r.status != status {
		t.Fatalf("exit status %d, want %d\n%s%s", r.status, status, r.stdout, r.stderr)
	}
	if r.stdout != "" {
		t.Errorf("standard output: %s", r.stdout)
	}
	if status == 1 && (strings.Count(r.stderr, "\n") != 1 || !strings.HasSuffix(r.stderr, "\n")) {
		t.Errorf("not one line: %q", r.stderr)
	}
	for _, word := range mentions {
		if !strings.Contains(r.stderr, word) {
			t.Errorf("standard error does not mention %q: %s", word, r.stderr)
		}
	}
}

// files are the names of the files in a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func read(t *testing.T, file ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(file...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, content string, file ...string) string {
	t.Helper()
	path := filepath.Join(file...)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// listOf reads what a listing command writes: one array.
func listOf(t *testing.T, stdout string) (all []object) {
	t.Helper()
	for _, element := range decode[[]any](t, []byte(stdout)) {
		all = append(all, element.(object))
	}
	return all
}

// command runs an administrative command on a daemon's directory.
func command(t *testing.T, d *daemontest.Daemon, args ...string) result {
	t.Helper()
	stdout, stderr, status := d.Command(args...)
	return result{stdout, stderr, status}
}
