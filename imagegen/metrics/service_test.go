package metrics_test

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/metrics"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/router"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// service is an engine over a directory, with metrics, and over HTTP.
type service struct {
	testing.TB
	is      *is.I
	db      *storage.DB
	engine  *engine.Engine
	metrics *metrics.Metrics
	scrapes http.Handler
	handler http.Handler
	backup  time.Time
}

const size = 16 // of each picture

func start(t testing.TB) *service {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	return startIn(t, registry, registry)
}

// startIn registers the metrics in a registry, and scrapes another.
func startIn(t testing.TB, registry prometheus.Registerer, scraped prometheus.Gatherer) *service {
	t.Helper()
	s := &service{TB: t, is: is.New(t), metrics: metrics.New(),
		scrapes: promhttp.HandlerFor(scraped, promhttp.HandlerOpts{})}
	s.is.NoErr(registry.Register(s.metrics))
	var err error
	s.db, err = storage.Open(t.TempDir(), &storage.Options{Observer: s.metrics})
	s.is.NoErr(err)
	t.Cleanup(func() { s.is.NoErr(s.db.Close()) })
	prices := map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 3}
	pool, err := router.New(router.Config{Members: []router.Member{{Name: "first", Provider: &provider.Fake{}}}})
	s.is.NoErr(err)
	s.engine, err = engine.New(engine.Config{Store: s.db, Ledger: s.db, Observer: s.metrics,
		Limits: engine.Limits{MaxRefusals: -1}, Models: []engine.Model{{ID: "m", Provider: &provider.Fake{},
			Credits: prices, Cost: engine.Cost{Image: map[imagegen.Tier]imagegen.Micros{"1K": 40_000}}},
			{ID: "pool", Provider: pool, Credits: prices}}})
	s.is.NoErr(err)
	s.is.NoErr(s.engine.Start())
	t.Cleanup(func() { s.engine.Stop(t.Context()) })
	s.metrics.Watch(metrics.Sources{Engine: s.engine, Disk: func() (metrics.Disk, error) {
		space, err := s.db.Space()
		return metrics.Disk(space), err
	}, Backup: func() time.Time { return s.backup }})
	s.handler = httpapi.Watch(httpapi.NewHandler(s.engine, httpapi.Options{}), s.metrics.Watcher())
	return s
}

func (s *service) grant(u imagegen.UserID, n imagegen.Credits) {
	s.Helper()
	_, err := s.db.Grant(s.Context(), imagegen.Grant{User: u, Credits: n})
	s.is.NoErr(err)
}

func (s *service) generate(u imagegen.UserID, q imagegen.GenerateRequest) (imagegen.Result, error) {
	q.Size = imagegen.Size{Width: size, Height: size}
	return s.engine.As(u).Generate(s.Context(), q)
}

// ask sends a request to the HTTP interface.
func (s *service) ask(method, path, body string, header ...string) int {
	r := httptest.NewRequestWithContext(s.Context(), method, path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w.Code
}

// scrape is what Prometheus reads.
func (s *service) scrape() string {
	s.Helper()
	w := httptest.NewRecorder()
	s.scrapes.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	s.is.Equal(w.Code, http.StatusOK)
	text, err := io.ReadAll(w.Body)
	s.is.NoErr(err)
	return string(text)
}

// sum is the sum of all series of a metric that have these labels.
func (s *service) sum(name string, labels ...string) (total float64) {
	s.Helper()
	for line := range strings.Lines(s.scrape()) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if series != name && !strings.HasPrefix(series, name+"{") || !hasAll(series, labels) {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		s.is.NoErr(err)
		total += v
	}
	return total
}

func hasAll(series string, labels []string) bool {
	for _, l := range labels {
		if !strings.Contains(series, l) {
			return false
		}
	}
	return true
}

// counts checks the value of a metric.
func (s *service) counts(want float64, name string, labels ...string) {
	s.Helper()
	if got := s.sum(name, labels...); math.Abs(got-want) > 1e-9 {
		s.Errorf("%s%v is %v, not %v", name, labels, got, want)
	}
}
