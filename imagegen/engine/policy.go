package engine

import (
	"math"

	"github.com/imagegend/imagegend/imagegen"
)

// Policy decides which ratio and tier a request means. It must be a pure function; info
// is that of the model. An *Error that it returns is the answer to the caller. The engine
// checks that the model offers both.
type Policy func(size imagegen.Size, quality imagegen.Quality, info imagegen.ModelInfo) (imagegen.Ratio, imagegen.Tier, error)

// SizeFirst lets an explicit size decide both: the tier by its area, and the ratio as the
// nearest one that the model lists. With size auto, the quality decides the tier: auto
// and low 1K, medium 2K, high 4K.
func SizeFirst(size imagegen.Size, quality imagegen.Quality, info imagegen.ModelInfo) (imagegen.Ratio, imagegen.Tier, error) {
	if size.Auto() {
		return imagegen.RatioAuto, tierByQuality(quality), nil
	}
	ratio, err := ratioBySize(size, info)
	return ratio, imagegen.TierOf(size.Area()), err
}

// QualityFirst lets the quality always decide the tier, and an explicit size the ratio. A
// size of a higher tier than the quality pays for is refused; one of a lower tier is
// delivered as asked, at the price of the quality.
func QualityFirst(size imagegen.Size, quality imagegen.Quality, info imagegen.ModelInfo) (imagegen.Ratio, imagegen.Tier, error) {
	tier := tierByQuality(quality)
	if size.Auto() {
		return imagegen.RatioAuto, tier, nil
	}
	if least := imagegen.TierOf(size.Area()); least.Above(tier) {
		return "", "", imagegen.InvalidField("size", "size %v is of tier %s, but quality %s buys tier %s; ask for a higher quality or a smaller size", size, least, quality, tier)
	}
	ratio, err := ratioBySize(size, info)
	return ratio, tier, err
}

func tierByQuality(q imagegen.Quality) imagegen.Tier {
	switch q {
	case imagegen.QualityMedium:
		return imagegen.Tier2K
	case imagegen.QualityHigh:
		return imagegen.Tier4K
	}
	return imagegen.Tier1K
}

// widestSlack is how far a size may lie beyond the widest listed ratio.
const widestSlack = 1.01

// ratioBySize returns the nearest listed ratio. It refuses a size beyond the widest or
// the tallest one.
func ratioBySize(s imagegen.Size, info imagegen.ModelInfo) (imagegen.Ratio, error) {
	least, most := math.Inf(1), 0.0
	for _, r := range info.Ratios {
		if a := r.Aspect(); a > 0 {
			least, most = min(least, a), max(most, a)
		}
	}
	if most == 0 {
		return "", imagegen.InvalidField("size", "model %.40q takes no explicit size; leave size out", info.ID)
	}
	if a := s.Aspect(); a > most*widestSlack || a < least/widestSlack {
		return "", imagegen.InvalidField("size", "size %v is too narrow for model %.40q; the nearest ratio is %s", s, info.ID, imagegen.NearestRatio(s, info.Ratios))
	}
	return imagegen.NearestRatio(s, info.Ratios), nil
}
