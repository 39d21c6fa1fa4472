// Package metrics counts what the service does, for Prometheus. No label has a value that a caller can choose, such
// as a user, key, identifier or path: models, providers and members are the operator's, so the number of series is
// bounded.
//
// Counters and histograms count what an Observer and a Watcher hear of (work.go, requests.go). Gauges are read from
// the engine at a scrape (state.go), what is expensive less often (open.go). docs/operating.md has a row for each
// metric.
package metrics

import (
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const namespace = "imagegend"

// Metrics are the metrics of one service. It is an [imagegen.Observer], and Watcher counts requests. It is safe for
// concurrent use.
type Metrics struct {
	recent   *recent
	requests requests
	work     work
	state    *state
}

// New returns metrics that count from zero. Until Watch there are no gauges of the service's state.
func New(version string) *Metrics {
	registry := prometheus.NewRegistry()
	declare := factory{promauto.With(registry)}
	m := &Metrics{recent: &recent{from: registry, age: recentAge}, requests: newRequests(declare),
		work: newWork(declare), state: new(state)}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info",
		Help:        "The version that runs, and the Go it was built with; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()}}, func() float64 { return 1 })
	registry.MustRegister(build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.state)
	return m
}

// Watch has the gauges read from s from now on.
func (m *Metrics) Watch(s Sources) { m.state.watch(s) }

// Handler answers scrapes in Prometheus' text format or as OpenMetrics, up to four at once; further ones get 503. The
// values can be recentAge old.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.recent, promhttp.HandlerOpts{MaxRequestsInFlight: 4, EnableOpenMetrics: true,
		DisableCompression: true})
}

// factory declares metrics in a registry. Of a metric with labels, what has never happened has no series, rather than
// one with a 0.
type factory struct{ promauto.Factory }

func (f factory) single(name, help string) prometheus.Counter {
	return f.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
}

func (f factory) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return f.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func (f factory) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return f.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets},
		labels)
}

// Upper bounds of the buckets, in seconds: of calls, of the work of upstreams, and of commits. A synchronous call may
// take 800 s.
var (
	callBuckets   = []float64{.005, .025, .1, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 400, 800}
	workBuckets   = []float64{.1, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 400, 800}
	commitBuckets = []float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1}
)
