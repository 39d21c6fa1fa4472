package daemontest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	// What the program is made of: so the go command knows that a result of the tests is outdated, and go mod tidy what
	// another module needs to build it.
	_ "golang.org/x/crypto/x509roots/fallback"

	_ "github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
)

// Main runs the tests and removes what Build has made. It returns the status to exit with.
func Main(m *testing.M) int {
	defer func() { os.RemoveAll(buildDir) }()
	return m.Run()
}

// Build compiles the daemon, once in a test process, and returns the path of the program.
func Build(tb testing.TB) string {
	tb.Helper()
	program, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	return program
}

var buildDir string

var build = sync.OnceValues(func() (program string, err error) {
	if buildDir, err = os.MkdirTemp("", "imagegend-test-"); err != nil {
		return "", err
	}
	program = filepath.Join(buildDir, "imagegend")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "github.com/imagegend/imagegend/cmd/imagegend").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("daemontest: the daemon does not build: %w\n%s", err, out)
	}
	return program, nil
})
