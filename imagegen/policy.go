package imagegen

import (
	"math"
)

// Policy decides which ratio and tier a request means. It is a pure function; info is the model's.
// An *Error that it returns is the answer to the caller. The engine checks that the model has both.
type Policy func(size Size, quality Quality, info ModelInfo) (Ratio, Tier, error)

// SizeFirst lets an explicit size decide both: the tier by its area, the ratio as the nearest one
// that the model lists. With size auto, the quality picks the tier: auto and low 1K, medium 2K,
// high 4K.
func SizeFirst(size Size, quality Quality, info ModelInfo) (Ratio, Tier, error) {
	if size.Auto() {
		return RatioAuto, tierByQuality(quality), nil
	}
	ratio, err := ratioBySize(size, info)
	return ratio, TierOf(size.Area()), err
}

// QualityFirst lets the quality always pick the tier, and an explicit size the ratio.
// A size of a higher tier than was paid for is refused; one of a lower tier is delivered as asked, at the
// price of the quality.
func QualityFirst(size Size, quality Quality, info ModelInfo) (Ratio, Tier, error) {
	tier := tierByQuality(quality)
	if size.Auto() {
		return RatioAuto, tier, nil
	}
	if least := TierOf(size.Area()); least.Above(tier) {
		return "", "", Invalid("size %v is of tier %s, but quality %s buys tier %s; ask for a higher quality or a smaller size", size, least, quality, tier)
	}
	ratio, err := ratioBySize(size, info)
	return ratio, tier, err
}

func tierByQuality(q Quality) Tier {
	switch q {
	case QualityMedium:
		return Tier2K
	case QualityHigh:
		return Tier4K
	}
	return Tier1K
}

// widestSlack is how far beyond the widest listed ratio a size may lie.
const widestSlack = 1.01

// ratioBySize finds the nearest listed ratio; a size beyond the widest or the tallest is refused.
func ratioBySize(s Size, info ModelInfo) (Ratio, error) {
	least, most := math.Inf(1), 0.0
	for _, r := range info.Ratios {
		if a := r.Aspect(); a > 0 {
			least, most = min(least, a), max(most, a)
		}
	}
	if most == 0 {
		return "", Invalid("model %.40q takes no explicit size; leave size out", info.ID)
	}
	if a := s.Aspect(); a > most*widestSlack || a < least/widestSlack {
		return "", Invalid("size %v is too narrow for model %.40q; the nearest ratio is %s", s, info.ID, NearestRatio(s, info.Ratios))
	}
	return NearestRatio(s, info.Ratios), nil
}
