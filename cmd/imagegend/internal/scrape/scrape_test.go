package scrape_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/scrape"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/metrics"
)

// What is scraped names the program's version, and tells of its process.
func TestHandler(t *testing.T) {
	is := is.New(t)
	w := httptest.NewRecorder()
	scrape.Handler("v1.2.3", metrics.New()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	is.Equal(w.Code, http.StatusOK)
	for _, has := range []string{`imagegend_build_info{go="go`, `version="v1.2.3"} 1`, "\nimagegend_replays_total 0\n",
		"\ngo_goroutines ", "\nprocess_start_time_seconds "} {
		is.True(strings.Contains(w.Body.String(), has))
	}
}

// Scrapes within a second share what was gathered.
func TestScrapesShareWhatWasGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, m := is.New(t), metrics.New()
		h := scrape.Handler("test", m)
		replays := func() string {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			return regexp.MustCompile(`(?m)^imagegend_replays_total (.*)$`).FindStringSubmatch(w.Body.String())[1]
		}
		is.Equal(replays(), "0")
		m.Observe(t.Context(), imagegen.Event{Kind: imagegen.EventReplayed})
		is.Equal(replays(), "0")
		time.Sleep(time.Second)
		is.Equal(replays(), "1")
	})
}
