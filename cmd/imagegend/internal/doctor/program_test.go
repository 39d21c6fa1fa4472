package doctor_test

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/doctor"
)

func TestProgram(t *testing.T) {
	for built, want := range map[string]doctor.State{
		"go1.26.10":              doctor.Warn,
		doctor.Toolchain:         doctor.OK,
		"go1.27rc1":              doctor.OK,
		"devel go1.27-abcdef123": doctor.OK,
	} {
		got := doctor.Program(built)
		if got.State != want || (got.Remedy == "") != (want == doctor.OK) || !strings.Contains(got.Detail, built) {
			t.Errorf("%s: %+v", built, got)
		}
	}
}

// The checks, the release tool and the document ask for the same Go.
func TestOneToolchain(t *testing.T) {
	for _, file := range []string{".ci/run", "deploy/release/main.go", "docs/operating.md"} {
		text, err := os.ReadFile("../../../../" + file)
		is.New(t).NoErr(err)
		if !strings.Contains(string(text), doctor.Toolchain) {
			t.Errorf("%s does not name %s", file, doctor.Toolchain)
		}
	}
}
