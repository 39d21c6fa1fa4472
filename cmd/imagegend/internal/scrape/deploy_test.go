package scrape_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/scrape"
	"github.com/imagegend/imagegend/imagegen/metrics"
)

func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "..", ".."}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	named  = regexp.MustCompile(`\b(?:imagegend|process|go)_[a-z0-9_]+`)
	suffix = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// Dashboard, rules and documentation name no metric that there is not, and every metric of ours is documented.
func TestNamesInUse(t *testing.T) {
	is := is.New(t)
	names := scrape.Names(metrics.New())
	is.True(len(names) > 30)
	for _, file := range [][]string{{"deploy", "grafana", "imagegend.json"},
		{"deploy", "prometheus", "imagegend.rules.yml"}, {"deploy", "prometheus", "imagegend.rules.test.yml"}} {
		used := named.FindAllString(read(t, file...), -1)
		is.True(len(used) > 10)
		for _, name := range used {
			if !names[name] && !names[suffix.ReplaceAllString(name, "")] {
				t.Errorf("%s names %s, which there is not", filepath.Join(file...), name)
			}
		}
	}
	docs := read(t, "docs", "operating.md")
	for name := range names {
		if short, ours := strings.CutPrefix(name, "imagegend_"); ours && !strings.Contains(docs, "`"+short+"`") {
			t.Errorf("docs/operating.md does not tell of %s", name)
		}
	}
}

type rules struct {
	Groups []struct {
		Rules []struct {
			Alert       string
			Labels      struct{ Severity string }
			Annotations struct {
				Summary    string
				RunbookURL string `yaml:"runbook_url"`
			}
		}
	}
}

// Each alert leads to a paragraph that says what to do, and has a test that it fires.
func TestAlerts(t *testing.T) {
	is := is.New(t)
	var r rules
	is.NoErr(yaml.Unmarshal([]byte(read(t, "deploy", "prometheus", "imagegend.rules.yml")), &r))
	docs, tests := read(t, "docs", "operating.md"), read(t, "deploy", "prometheus", "imagegend.rules.test.yml")
	is.Equal(len(r.Groups), 1)
	is.True(len(r.Groups[0].Rules) >= 12)
	for _, a := range r.Groups[0].Rules {
		is.True(a.Labels.Severity == "critical" || a.Labels.Severity == "warning")
		is.True(a.Annotations.Summary != "")
		page, anchor, ok := strings.Cut(a.Annotations.RunbookURL, "#")
		is.True(ok && strings.HasSuffix(page, "/docs/operating.md"))
		if !strings.Contains(docs, "\n### "+heading(anchor)+"\n") {
			t.Errorf("%s leads to #%s, where there is nothing", a.Alert, anchor)
		}
		if !strings.Contains(tests, "alertname: "+a.Alert+"\n        eval_time") {
			t.Errorf("no test shows that %s fires", a.Alert)
		}
	}
}

// heading is that of an anchor such as alert-not-ready.
func heading(anchor string) string {
	words := strings.Split(strings.TrimPrefix(anchor, "alert-"), "-")
	return "Alert: " + strings.Join(words, " ")
}
