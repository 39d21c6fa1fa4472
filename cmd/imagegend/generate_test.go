package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

func TestGenerate(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	_, key := d.NewUser(100)
	dir := t.TempDir()
	env := []string{"IMAGEGEND_URL=" + d.URL, "IMAGEGEND_API_KEY=" + key}
	generate := func(args ...string) (stdout, stderr string, status int) {
		t.Helper()
		return command(t, dir, env, append([]string{"generate"}, args...)...)
	}

	stdout, stderr, status := generate("a fox", "-o", "fox.png", "--size", "64x64")
	is.Equal(status, 0)
	is.Equal(stdout, "fox.png\n")
	says(t, stderr, "1 credit, 99 left")
	decode(t, filepath.Join(dir, "fox.png"))

	// Without -o nothing is overwritten.
	for _, want := range []string{"a-fox.png\n", "a-fox-2.png\n", "a-fox-3.png\n"} {
		stdout, _, status = generate("a fox", "--size", "64x64")
		is.Equal(status, 0)
		is.Equal(stdout, want)
	}

	stdout, _, status = generate("a fox", "-o", "fox.png", "--n", "2", "--size", "64x64", "--async", "--ref", "fox.png")
	is.Equal(status, 0)
	is.Equal(stdout, "fox-1.png\nfox-2.png\n")

	stdout, _, status = generate("a fox", "-o", "-", "--size", "64x64")
	is.Equal(status, 0)
	is.True(strings.HasPrefix(stdout, "\x89PNG"))

	stdout, _, status = generate("a fox", "--no-wait", "--size", "64x64")
	is.Equal(status, 0)
	is.True(strings.HasPrefix(stdout, "gen_") && strings.Count(stdout, "\n") == 1)

	_, stderr, status = generate("a fox [fake:images=1]", "--n", "2", "--size", "64x64")
	is.Equal(status, 0)
	says(t, stderr, "1 of 2 images", "refunded")

	_, stderr, status = generate("a fox [fake:refuse]")
	is.Equal(status, 1)
	says(t, stderr, "refused", "credits were returned")
	_, stderr, status = generate("a fox", "--model", "fake-9")
	is.Equal(status, 1)
	says(t, stderr, `"fake-9"`, "fake-1")
	_, stderr, status = generate("a fox", "--api-key", "img_live_wrong")
	is.Equal(status, 1)
	says(t, stderr, "API key")
	_, stderr, status = generate("a fox", "--url", "http://127.0.0.1:1")
	is.Equal(status, 1)
	says(t, stderr, "http://127.0.0.1:1", "imagegend serve")
	_, err := os.Stat(filepath.Join(dir, "a-fox-4.png"))
	is.True(os.IsNotExist(err))
}
