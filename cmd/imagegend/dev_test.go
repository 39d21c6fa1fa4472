package main_test

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The first thing that anybody does: start, paste the line, look at the picture.
func TestDevLineYieldsAnImage(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Dev: true})
	banner := d.Output()
	says(t, banner, "listening", d.URL, "fake-1 by fake", "removed at exit", "1000 credits", "ready in ")
	is.True(!strings.Contains(banner, "WARNING")) // what is normal for --dev is not warned of

	line := regexp.MustCompile(`(?m)^curl .*$`).FindString(banner)
	is.True(line != "")
	paste := exec.Command("sh", "-c", line)
	paste.Dir = t.TempDir()
	out, err := paste.CombinedOutput()
	is.NoErr(err)
	is.Equal(string(out), "")
	is.Equal(decode(t, filepath.Join(paste.Dir, "fox.png")).Bounds().Dx(), 1024)

	dir := regexp.MustCompile(`data +(\S+), removed`).FindStringSubmatch(banner)[1]
	_, err = os.Stat(dir)
	is.NoErr(err)
	is.Equal(d.Terminate(drainLimit), 0)
	_, err = os.Stat(dir)
	is.True(errors.Is(err, os.ErrNotExist))
}

func TestGenerateWithoutAServer(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	stdout, _, status := command(t, dir, nil, "generate", "A fox, in the snow!", "--dev", "--n", "2", "--size", "64x32")
	is.Equal(status, 0)
	is.Equal(stdout, "a-fox-in-the-snow-1.png\na-fox-in-the-snow-2.png\n")
	is.Equal(decode(t, filepath.Join(dir, "a-fox-in-the-snow-2.png")).Bounds().Dx(), 64)
}

// With --dev, a caller who has used up the credits learns how to get more; without it, a caller can do nothing with
// the operator's commands.
func TestDevTellsOfGrants(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Dev: true})
	key := regexp.MustCompile(`img_live_\w+`).FindString(d.Output())
	dir := regexp.MustCompile(`data +(\S+), removed`).FindStringSubmatch(d.Output())[1]
	command := func(args ...string) {
		t.Helper()
		out, err := exec.Command(daemontest.Build(t), append(args, "--data-dir", dir)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	command("credit", "revoke", "--user", "dev", "1000")
	ask := daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "size": "64x48"})
	refused := d.Call(ask)
	is.Equal(refused.Status, http.StatusPaymentRequired)
	is.True(!strings.Contains(string(refused.Body), "imagegend"))
	var line []string
	until(t, "the log tells of grants", func() bool {
		line = regexp.MustCompile(`imagegend (credit grant [^"\n]*)"`).FindStringSubmatch(d.Output())
		return line != nil
	})
	command(strings.Fields(strings.TrimSuffix(line[1], " --data-dir "+dir))...)
	is.Equal(d.Call(ask).Status, http.StatusOK)
}
