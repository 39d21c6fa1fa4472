// Package metrics counts what an engine does, for Prometheus. No label has a value that a caller can choose, such as a
// user, key, identifier or path: models, providers and members are the operator's, so the number of series is bounded.
// docs/operating.md has a row for each metric.
//
// It is a module of its own, for programs that use Prometheus' library: a [Metrics] is a Collector, for a Registerer of
// theirs, and an Observer of the engine and the storage.
//
//	m := metrics.New()
//	db, err := storage.Open(dir, &storage.Options{Observer: m})
//	service, err := engine.New(engine.Config{Store: db, Ledger: db, Observer: m, …})
//	m.Watch(metrics.Sources{Engine: service})
//	err = prometheus.Register(m)
//	handler := httpapi.Watch(httpapi.NewHandler(service, options), m.Watcher())
//
// Each engine of a process has a Metrics of its own. In one registry a label of the host's tells them apart:
// prometheus.WrapRegistererWith; without it, the second one is refused.
package metrics

// Counters and histograms count what an Observer and a Watcher hear of (work.go, requests.go). Gauges are read from the
// engine at a scrape (gauges.go), what is expensive less often (open.go).

import (
	"github.com/prometheus/client_golang/prometheus"
)

const namespace = "imagegend"

// Metrics are the metrics of one engine. It is a [prometheus.Collector] and an [imagegen.Observer], and Watcher counts
// requests. It is safe for concurrent use.
type Metrics struct {
	requests requests
	work     work
	gauges   *gauges
	all      []prometheus.Collector // what these have declared
}

var _ prometheus.Collector = (*Metrics)(nil)

// New returns metrics that count from zero. Until Watch there are no gauges of the engine's state.
func New() *Metrics {
	var d declared
	m := &Metrics{requests: newRequests(&d), work: newWork(&d), gauges: newGauges()}
	m.all = append(d, m.gauges)
	return m
}

// Watch has the gauges read from s from now on. It may be called while a scrape is under way.
func (m *Metrics) Watch(s Sources) { m.gauges.sources.Store(&s) }

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.all {
		c.Describe(to)
	}
}

// Collect implements [prometheus.Collector]. It waits for the store for at most five seconds.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.all {
		c.Collect(to)
	}
}

// declared are metrics that are collected together. Of a metric with labels, what has never happened has no series,
// rather than one with a 0.
type declared []prometheus.Collector

func (d *declared) single(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
	*d = append(*d, c)
	return c
}

func (d *declared) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	*d = append(*d, c)
	return c
}

func (d *declared) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help,
		Buckets: buckets}, labels)
	*d = append(*d, h)
	return h
}

// Upper bounds of the buckets, in seconds: of calls, of the work of upstreams, and of commits. A synchronous call may
// take 800 s.
var (
	callBuckets   = []float64{.005, .025, .1, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 400, 800}
	workBuckets   = []float64{.1, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 400, 800}
	commitBuckets = []float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1}
)
