package metrics

import (
	"regexp"

	"github.com/prometheus/client_golang/prometheus"
)

var described = regexp.MustCompile(`fqName: "([^"]+)"`)

// Names are those of all metrics that there can be.
func (m *Metrics) Names() map[string]bool {
	descs := make(chan *prometheus.Desc)
	go func() {
		m.recent.from.Describe(descs)
		close(descs)
	}()
	names := make(map[string]bool)
	for d := range descs {
		names[described.FindStringSubmatch(d.String())[1]] = true
	}
	return names
}

// AlwaysFresh has each scrape gather anew.
func (m *Metrics) AlwaysFresh() { m.recent.age = 0 }
