package metrics_test

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/metrics"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// A program that has a registry of its own.
func Example() {
	m, db := metrics.New(), memory.New(nil)
	service, err := engine.New(engine.Config{Store: db, Ledger: db, Observer: m, Models: []engine.Model{{ID: "fake-1",
		Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Watch(metrics.Sources{Engine: service})
	registry := prometheus.NewRegistry() // the program's
	// The label tells engines apart, where there are several.
	if err := prometheus.WrapRegistererWith(prometheus.Labels{"service": "shop"}, registry).Register(m); err != nil {
		fmt.Println(err)
		return
	}
	families, err := registry.Gather()
	for _, f := range families {
		if f.GetName() == "imagegend_slots" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetGauge().GetValue(), err)
		}
	}
	// Output: imagegend_slots 512 <nil>
}
