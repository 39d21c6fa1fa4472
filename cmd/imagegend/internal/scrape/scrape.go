// Package scrape answers Prometheus: with the metrics of the service, of its process, of Go and of the build.
package scrape

import (
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler answers scrapes in Prometheus' text format or as OpenMetrics, up to four at once; further ones get 503. The
// values can be recentAge old.
func Handler(version string, service prometheus.Collector) http.Handler {
	return promhttp.HandlerFor(&recent{from: registry(version, service)},
		promhttp.HandlerOpts{MaxRequestsInFlight: 4, EnableOpenMetrics: true, DisableCompression: true})
}

func registry(version string, service prometheus.Collector) *prometheus.Registry {
	r := prometheus.NewRegistry()
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "imagegend", Name: "build_info",
		Help:        "The version that runs, and the Go it was built with; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()}}, func() float64 { return 1 })
	r.MustRegister(build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), service)
	return r
}
