package scrape

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// recentAge is how long what was gathered serves further scrapes. Gathering is most of the cost of a scrape, and
// anybody who reaches the address can scrape.
const recentAge = time.Second

// recent is a Gatherer whose result is at most recentAge old. mu guards the fields below it, and is held while it
// gathers.
type recent struct {
	from *prometheus.Registry

	mu   sync.Mutex
	at   time.Time
	last []*dto.MetricFamily
	err  error
}

// Gather implements [prometheus.Gatherer].
func (r *recent) Gather() ([]*dto.MetricFamily, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() || time.Since(r.at) >= recentAge {
		r.last, r.err = r.from.Gather()
		r.at = time.Now()
	}
	return r.last, r.err
}
