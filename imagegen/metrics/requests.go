package metrics

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// requests counts the requests to the HTTP interfaces, the console included.
type requests struct {
	answered *prometheus.CounterVec
	took     *prometheus.HistogramVec
}

func newRequests(declare *declared) requests {
	return requests{
		answered: declare.counter("http_requests_total",
			"Requests by method, pattern of the route and status; 0: cut off before an answer.", "method", "route",
			"status"),
		took: declare.histogram("http_request_duration_seconds", "How long requests took to be answered.",
			callBuckets, "method", "route"),
	}
}

// noRoute is the label of requests for which there is no route. The path itself is the caller's choice.
const noRoute = "none"

// watcher is Metrics as a Watcher. Metrics cannot be both: Observer and Watcher each have a method Begin.
type watcher struct{ *Metrics }

// Watcher returns what counts requests.
func (m *Metrics) Watcher() httpapi.Watcher { return watcher{m} }

// Begin implements [httpapi.Watcher].
func (watcher) Begin(r *http.Request) context.Context { return r.Context() }

// End implements [httpapi.Watcher].
func (w watcher) End(_ context.Context, a httpapi.Answer) {
	// The label is bounded, since a handler can write a status up to 999.
	route := cmp.Or(a.Route, noRoute)
	w.requests.answered.WithLabelValues(a.Method, route, strconv.Itoa(min(a.Status, 599))).Inc()
	w.requests.took.WithLabelValues(a.Method, route).Observe(a.Duration.Seconds())
}
