package gemini_test

import (
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/gemini"
)

func ExampleNew() {
	p, err := gemini.New(gemini.Config{
		APIKey:        "AIza-0123",
		Model:         "gemini-2.5-flash-image",
		Sizes:         gemini.Gemini25Flash(),
		Tiers:         []imagegen.Tier{imagegen.Tier1K},
		MaxReferences: 3,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	can := p.Capabilities()
	fmt.Println(can.Ratios, can.Tiers, can.MaxReferences)
	// Output: [auto 1:1 3:2 2:3 16:9 9:16] [1K] 3
}
