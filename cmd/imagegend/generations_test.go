package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The newest generations are listed, of all or some, without their prompts, beside a server and without one.
func TestGenerationList(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	alice, aliceKey := d.NewUser(10)
	bob, bobKey := d.NewUser(10)
	for _, call := range []struct{ key, prompt string }{
		{aliceKey, "a secret fox"}, {bobKey, "[fake:fail] a secret hare"}, {aliceKey, "[fake:images=1] a secret owl"}} {
		d.Call(daemontest.Generate(call.key, map[string]any{"model": "fake-1", "prompt": call.prompt, "size": "64x48",
			"n": 2}))
	}
	listed := func(args ...string) (lines []string) {
		t.Helper()
		out := d.Admin(append([]string{"generation", "list", "--json"}, args...)...)
		is.True(!strings.Contains(out, "secret"))
		var all []struct {
			User, Status     string
			Images, N        int
			CompletedAt      *string `json:"completed_at"`
			CreditsRequested int     `json:"credits_requested"`
		}
		is.NoErr(json.Unmarshal([]byte(out), &all))
		for _, g := range all {
			is.True(g.N == 2 && g.CreditsRequested == 2 && g.CompletedAt != nil)
			lines = append(lines, g.User+" "+g.Status+" "+strings.Repeat("i", g.Images))
		}
		return lines
	}
	look := func() {
		t.Helper()
		is.Equal(listed(), []string{alice + " succeeded i", bob + " failed ", alice + " succeeded ii"})
		is.Equal(listed("--limit", "2"), []string{alice + " succeeded i", bob + " failed "})
		is.Equal(listed("--user", alice, "--limit", "1"), []string{alice + " succeeded i"})
		is.Equal(listed("--status", "failed"), []string{bob + " failed "})
		is.Equal(len(listed("--status", "queued")), 0)
		says(t, d.Admin("generation", "list"), "IMAGES", "1 of 2", bob, "Z")
		_, stderr, status := d.Command("generation", "list", "--limit", "2")
		is.Equal(status, 0)
		is.Equal(stderr, "these are the newest 2; --limit lists more\n")
		_, stderr, status = d.Command("generation", "list", "--limit", "3")
		is.Equal(status, 0)
		is.Equal(stderr, "")
		_, stderr, status = d.Command("generation", "list", "--user", "nobody")
		is.Equal(status, 1)
		says(t, stderr, "nobody", "imagegend user list")
		_, stderr, status = d.Command("generation", "list", "--status", "done")
		is.Equal(status, 2)
		says(t, stderr, "queued, processing, succeeded, failed")
	}
	look()

	// Shells complete what can be chosen.
	completed := func(args ...string) string {
		t.Helper()
		out, _, status := command(t, t.TempDir(), []string{"IMAGEGEND_DATA_DIR=" + d.DataDir},
			append([]string{"__complete"}, args...)...)
		is.Equal(status, 0)
		return out
	}
	says(t, completed("generation", "list", "--user", ""), alice+"\n", bob+"\n")
	says(t, completed("user", "set", ""), alice+"\n", bob+"\n")
	says(t, completed("generation", "list", "--status", ""), "queued\n", "failed\n")
	says(t, completed("serve", "--policy", ""), "size-first\n", "quality-first\n")
	says(t, completed("serve", "--models", ""), "fake\n")
	says(t, completed("generate", "--quality", ""), "high\n")

	is.Equal(d.Terminate(drainLimit), 0)
	look()
}
