package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// recentAge is how long what was gathered serves further scrapes: to gather is most of what a scrape costs.
const recentAge = time.Second

// recent gathers metrics that are no older than age.
type recent struct {
	from prometheus.Gatherer
	age  time.Duration

	mu   sync.Mutex
	at   time.Time
	last []*dto.MetricFamily
	err  error
}

// Gather implements [prometheus.Gatherer].
func (r *recent) Gather() ([]*dto.MetricFamily, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() || time.Since(r.at) >= r.age {
		r.last, r.err = r.from.Gather()
		r.at = time.Now()
	}
	return r.last, r.err
}
