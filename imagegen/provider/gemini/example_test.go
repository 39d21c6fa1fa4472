package gemini_test

import (
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/gemini"
)

func ExampleNew() {
	p, err := gemini.New(gemini.Config{
		APIKey: "AIza-0123",
		Model:  "gemini-3.1-flash-lite-image",
		Tiers:  []imagegen.Tier{imagegen.Tier1K},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	can := p.Capabilities()
	fmt.Println(can.Ratios, can.Tiers, can.MaxReferences)
	// Output: [auto 1:1 4:3 3:4 3:2 2:3 16:9 9:16 5:4 4:5 21:9] [1K] 14
}
