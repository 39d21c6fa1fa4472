package doctor

import (
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/branding"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

// Brand looks at the name, the logo and the colour of the console; nil if none of them is set.
func Brand(s config.Server) []Finding {
	set := strings.Join(strings.Fields(s.BrandName+" "+s.BrandLogo+" "+s.BrandAccent), " ")
	if set == "" {
		return nil
	}
	f := ok("brand", "%s can be shown", set)
	// Load is what serve calls, so both refuse the same.
	if _, err := branding.Load(s); err != nil {
		f = f.says("%v", err).fails("put it right, or leave it out; serve does not start with it")
	}
	return []Finding{f}
}
