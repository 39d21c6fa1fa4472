package main_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The file is there as long as the service, and what it names works. The file of a service that was killed is not
// taken for that of the next one.
func TestReadyFile(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "ready.json")
	is.NoErr(os.WriteFile(file, []byte("of a service that was killed"), 0o644))
	d := daemontest.Start(t, daemontest.Options{Dev: true,
		Args: []string{"--ready-file", file, "--ops-addr", "127.0.0.1:0"}})
	info, err := os.Stat(file)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))
	raw, err := os.ReadFile(file)
	is.NoErr(err)
	var got map[string]string
	is.NoErr(json.Unmarshal(raw, &got))
	key := got["api_key"]
	is.Equal(cmp.Diff(got, map[string]string{"url": d.URL, "console": d.URL + "/console/", "ops": d.OpsURL(),
		"api_key": regexp.MustCompile(`img_live_\w+`).FindString(d.Output())}), "")
	balance, err := d.Balance(t.Context(), key)
	is.NoErr(err)
	is.Equal(balance, 1000)
	is.Equal(d.Terminate(drainLimit), 0)
	_, err = os.Stat(file)
	is.True(errors.Is(err, fs.ErrNotExist))
	left, err := os.ReadDir(dir)
	is.NoErr(err)
	is.Equal(len(left), 0) // nor another name of it
}

// What docs/operating.md shows to people who write tests in Python does what it says.
func TestDocumentedReadyFile(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	text, err := os.ReadFile("../../docs/operating.md")
	is.NoErr(err)
	_, script, _ := strings.Cut(string(text), "```python\n")
	script, _, _ = strings.Cut(script, "```\n")
	binary, err := filepath.Abs(daemontest.Build(t))
	is.NoErr(err)
	c := exec.CommandContext(t.Context(), "python3", "-c", strings.Replace(script, `"imagegend"`, `"`+binary+`"`, 1))
	c.Stderr = t.Output()
	out, err := c.Output()
	is.NoErr(err)
	is.Equal(string(out), "succeeded\n")
}
