package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/imagegend/imagegend/imagegen"
)

// BenchmarkScrape is what one scrape costs. Ten a second may cost no more than a hundredth of a processor: 1 ms each.
func BenchmarkScrape(b *testing.B) {
	registry := prometheus.NewRegistry()
	s := startIn(b, registry, registry)
	s.grant("alice", 100)
	for _, m := range []string{"m", "pool"} {
		if _, err := s.generate("alice", imagegen.GenerateRequest{Model: m, Prompt: "a fox"}); err != nil {
			b.Fatal(err)
		}
	}
	s.ask(http.MethodGet, "/api/v1/models", "")
	h, r := s.scrapes, httptest.NewRequest(http.MethodGet, "/metrics", nil)
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}
