package credits

import (
	"fmt"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// priceList is what the images of a model cost the person.
type priceList struct {
	imagegen.ModelInfo
	Lines []priceLine
}

// priceLine is a line of a price list. A tier without credits is one for which a further line decides.
type priceLine struct {
	imagegen.Price
	PerReference imagegen.Credits // added for each reference image
}

// Prices shows what images cost, by model.
func Prices(p *frame.Page) error {
	models, err := p.Service().Models(p.Context())
	if err != nil {
		return err
	}
	lists := make([]priceList, len(models))
	for i, m := range models {
		lists[i] = newPriceList(m)
	}
	return p.Render("prices", lists)
}

func newPriceList(m imagegen.ModelInfo) priceList {
	list, lines := priceList{ModelInfo: m}, m.Prices
	if len(lines) == 0 {
		lines = []imagegen.Price{{Credits: m.Credits}}
	}
	for _, l := range lines {
		line := priceLine{l, m.ReferenceCredits}
		if l.ReferenceCredits != nil {
			line.PerReference = *l.ReferenceCredits
		}
		list.Lines = append(list.Lines, line)
	}
	return list
}

// When says when the line decides, in words.
func (l priceLine) When() string {
	var all []string
	if l.Quality != "" {
		all = append(all, fmt.Sprintf("quality %s", l.Quality))
	}
	if l.References > 0 {
		all = append(all, "from "+format.Count(l.References, "reference image", "reference images"))
	}
	if l.Mask {
		all = append(all, "with a mask")
	}
	if len(all) == 0 {
		return "Any request"
	}
	return strings.Join(all, ", ")
}
