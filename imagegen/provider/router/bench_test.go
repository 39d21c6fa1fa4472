package router_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

// BenchmarkGenerate is what the router adds to a call that works at once.
func BenchmarkGenerate(b *testing.B) {
	one, two := &provider.Fake{Image: []byte("image")}, &provider.Fake{Image: []byte("image")}
	p, err := router.New(router.Config{Members: []router.Member{
		{Name: "one", Provider: one, Weight: 1, MaxConcurrent: 4}, {Name: "two", Provider: two, Weight: 1,
			MaxConcurrent: 4},
	}})
	if err != nil {
		b.Fatal(err)
	}
	for name, p := range map[string]imagegen.Provider{"router": p, "without": one} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range p.Generate(b.Context(), request(1)) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
