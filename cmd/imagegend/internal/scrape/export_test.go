package scrape

import (
	"regexp"

	"github.com/prometheus/client_golang/prometheus"
)

var described = regexp.MustCompile(`fqName: "([^"]+)"`)

// Names are those of all metrics that there can be.
func Names(service prometheus.Collector) map[string]bool {
	descs := make(chan *prometheus.Desc)
	go func() {
		registry("test", service).Describe(descs)
		close(descs)
	}()
	names := make(map[string]bool)
	for d := range descs {
		names[described.FindStringSubmatch(d.String())[1]] = true
	}
	return names
}
