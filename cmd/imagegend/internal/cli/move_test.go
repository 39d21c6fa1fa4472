package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// move refuses a target in its source, which the operator is to remove afterwards.
func TestMoveIntoItself(t *testing.T) {
	is, dir := is.New(t), filepath.Join(t.TempDir(), "data")
	move := func(to string) (stderr string, code int) {
		var out, errs bytes.Buffer
		code = Run(t.Context(), []string{"move", "--data-dir", dir, "--to-data-dir", to}, strings.NewReader(""), &out,
			&errs)
		return errs.String(), code
	}
	for _, to := range []string{dir, filepath.Join(dir, "new")} {
		stderr, code := move(to)
		is.Equal(code, ExitError)
		is.True(strings.Contains(stderr, "name a directory elsewhere"))
	}
	stderr, _ := move(dir + "-new")
	is.True(!strings.Contains(stderr, "elsewhere"))
}
