// Package metrics counts what the service does, for Prometheus. No label has what a caller can choose: no user, no
// key, no identifier, no path; a model, a provider and its members are the operator's.
package metrics

import (
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const namespace = "imagegend"

// Metrics are the metrics of one service. It is an [imagegen.Observer]; see Watcher for requests.
type Metrics struct {
	registry *prometheus.Registry
	recent   *recent
	requests requests
	work     work
	state    *state
}

// New makes metrics that count from zero.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), requests: newRequests(), work: newWork(), state: newState()}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info", Help: "The version that runs, and the Go it was built with; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()}}, func() float64 { return 1 })
	m.registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.state)
	m.registry.MustRegister(m.requests.all()...)
	m.registry.MustRegister(m.work.all()...)
	m.recent = &recent{from: m.registry, age: recentAge}
	return m
}

// Watch has what a service is in told, from now on.
func (m *Metrics) Watch(s Sources) { m.state.watch(s) }

// Handler answers scrapes, in plain text or as OpenMetrics, with what is no older than recentAge.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.recent, promhttp.HandlerOpts{MaxRequestsInFlight: 4, EnableOpenMetrics: true, DisableCompression: true})
}

// counter and histogram declare a metric.
func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

// The buckets, in seconds. A synchronous call may last 800 s.
var (
	callBuckets   = []float64{.005, .025, .1, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 400, 800}
	workBuckets   = []float64{.1, .5, 1, 2.5, 5, 10, 20, 40, 80, 160, 400, 800}
	commitBuckets = []float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1}
)
