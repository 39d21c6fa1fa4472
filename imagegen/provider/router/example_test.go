package router_test

import (
	"context"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

// The first member is down, so that the one in reserve makes the image.
func Example() {
	down := func(imagegen.ProviderRequest) provider.Faults { return provider.Faults{Transient: 1} }
	p, err := router.New(router.Config{Members: []router.Member{
		{Name: "main", Provider: &provider.Fake{Script: down}, Weight: 1, MaxConcurrent: 8},
		{Name: "reserve", Provider: &provider.Fake{}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := imagegen.ProviderRequest{Key: "gen_1", Prompt: "a fox", N: 1, Size: imagegen.Size{Width: 64, Height: 64},
		Ratio: "1:1", Tier: imagegen.Tier1K, SaveJob: func(context.Context, []byte) error { return nil }}
	for range p.Generate(context.Background(), r) {
		fmt.Println("an image")
	}
	// Output: an image
}
