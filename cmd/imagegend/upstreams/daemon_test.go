package upstreams_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// modelsFile writes models.yaml with a model for each provider, which stands in flow style and may be
// followed by prices; without them, one for 1K, which every provider can do. Files that it names lie
// beside it.
func modelsFile(t *testing.T, providers map[string]string, beside map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("models:\n")
	for id, provider := range providers {
		if !strings.Contains(provider, "credits:") {
			provider += "\n    credits: {1K: 1}"
		}
		text.WriteString("  - id: " + id + "\n    provider: " + provider + "\n")
	}
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, content := range beside {
		write(name, content)
	}
	return write("models.yaml", text.String())
}

// queue asks for pictures of a fox, asynchronously.
func queue(t *testing.T, d *daemontest.Daemon, key, model string, n int) (g daemontest.Generation) {
	t.Helper()
	answer := d.Call(daemontest.Generate(key, object{"model": model, "prompt": "a fox", "n": n, "async": true}))
	if answer.Status != http.StatusAccepted {
		t.Fatalf("status %d: %s", answer.Status, answer.Body)
	}
	answer.Into(t, &g)
	return g
}

// limit is how long a test waits for what has to come: work that is put back is taken up a lease later, after 30 s.
const limit = time.Minute

// await waits until a generation has ended.
func await(t *testing.T, d *daemontest.Daemon, key, id string) (g daemontest.Generation) {
	t.Helper()
	daemontest.Eventually(t, limit, "generation "+id+" has ended", func() bool {
		g = d.MustGeneration(t, key, id)
		return g.Ended()
	})
	return g
}
