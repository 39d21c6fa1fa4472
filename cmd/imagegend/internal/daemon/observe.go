package daemon

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// observer is told of what engine and storage do.
func (d *daemon) observer() imagegen.Observer {
	if d.tracer == nil {
		return d.metrics
	}
	return imagegen.Observers{d.tracer, d.metrics}
}

// watchers are told of requests.
func (d *daemon) watchers() []httpapi.Watcher {
	all := []httpapi.Watcher{d.metrics.Watcher()}
	if d.tracer != nil {
		all = append(all, d.tracer.Watcher())
	}
	return all
}
