package daemon

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// observer returns what hears of the events of engine and storage. The tracer comes first: the contexts that it
// returns carry its spans to the others.
func (d *daemon) observer() imagegen.Observer {
	var all imagegen.Observers
	if d.tracer != nil {
		all = append(all, d.tracer)
	}
	all = append(all, d.metrics)
	if d.history != nil {
		all = append(all, d.history)
	}
	return all
}

// watchers returns what hears of requests.
func (d *daemon) watchers() []httpapi.Watcher {
	all := []httpapi.Watcher{d.metrics.Watcher()}
	if d.tracer != nil {
		all = append(all, d.tracer.Watcher())
	}
	return all
}
