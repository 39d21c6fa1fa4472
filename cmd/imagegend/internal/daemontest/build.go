package daemontest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	// The program is made of these. With the imports, the go command knows when a cached result of the tests is
	// outdated, and go mod tidy knows what another module needs to build the program.
	_ "golang.org/x/crypto/x509roots/fallback"

	_ "github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
)

// Main runs the tests and removes what Build has made. It returns the status to exit with.
func Main(m *testing.M) int {
	defer func() {
		if dir, err := buildDir(); err == nil {
			os.RemoveAll(dir)
		}
	}()
	return m.Run()
}

// Build compiles the daemon, once in a test process, and returns the path of the program. Main must run the tests, or
// nobody removes it.
func Build(tb testing.TB) string {
	tb.Helper()
	program, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	return program
}

// buildDir makes the directory for all programs of this test process, once.
var buildDir = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "imagegend-test-") })

var build = sync.OnceValues(func() (program string, err error) {
	dir, err := buildDir()
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "imagegend")
	return program, compile(program)
})

// compile builds the daemon with further flags for go build.
func compile(program string, flags ...string) error {
	args := append([]string{"build", "-buildvcs=false", "-o", program}, flags...)
	out, err := exec.Command("go", append(args, "github.com/imagegend/imagegend/cmd/imagegend")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("daemontest: the daemon does not build: %w\n%s", err, out)
	}
	return nil
}

// BuildAltered compiles the daemon with some source files replaced: files has the new text of each by its path. They
// can be files of the daemon or of Go's library. So a test can change what no setting changes, and the released
// program needs no code for tests. Main removes the program.
func BuildAltered(files map[string]string) (program string, err error) {
	parent, err := buildDir()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(parent, "altered")
	if err != nil {
		return "", err
	}
	replaced := map[string]string{}
	for path, text := range files {
		replaced[path] = filepath.Join(dir, strconv.Itoa(len(replaced))+".go")
		err = errors.Join(err, os.WriteFile(replaced[path], []byte(text), 0o600))
	}
	// The go command takes replacements in a file of this form.
	overlay, failed := json.Marshal(map[string]any{"Replace": replaced})
	list := filepath.Join(dir, "overlay.json")
	if err := errors.Join(err, failed, os.WriteFile(list, overlay, 0o600)); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "imagegend")
	return program, compile(program, "-overlay", list)
}
