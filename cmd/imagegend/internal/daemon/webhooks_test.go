package daemon_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemon"
	"github.com/imagegend/imagegend/imagegen/webhook"
)

// The file of webhooks in docs/events.md works.
func TestDocumentedWebhooks(t *testing.T) {
	is := is.New(t)
	page, err := os.ReadFile("../../../../docs/events.md")
	is.NoErr(err)
	found := regexp.MustCompile("(?ms)^```yaml\n(- name:.*?)^```$").FindSubmatch(page)
	is.True(found != nil)
	file := filepath.Join(t.TempDir(), "webhooks.yaml")
	is.NoErr(os.WriteFile(file, found[1], 0o600))
	endpoints, err := daemon.ReadHooks(config.Settings{Server: config.Server{Events: true, Webhooks: file}})
	is.NoErr(err)
	var names []string
	for _, e := range endpoints {
		names = append(names, e.Name)
	}
	is.Equal(cmp.Diff([]string{"shop", "warehouse"}, names), "")
	_, err = webhook.New(webhook.Config{Endpoints: endpoints})
	is.NoErr(err)
}
