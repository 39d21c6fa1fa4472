package openai_test

import (
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
)

// A service of one's own that takes three sizes and makes one image per call.
func ExampleNew() {
	p, err := openai.New(openai.Config{
		Name:    "attic",
		BaseURL: "http://192.168.1.20:8080/v1",
		Private: true,
		Model:   "sdxl",
		Sizes: []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 1152, Height: 768},
			{Width: 768, Height: 1152}},
		MaxPerCall:    1,
		MaxReferences: -1,
		NoQuality:     true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	can := p.Capabilities()
	fmt.Println(p.Name(), can.Ratios, can.Tiers, can.MaxReferences)
	// Output: attic [auto 1:1 3:2 2:3] [1K] 0
}
