package engine

import (
	"math"

	"github.com/imagegend/imagegend/imagegen"
)

// Policy decides the ratio and the tier of a request from its size, its quality and the info of
// the model. It must be a pure function. If it returns an *imagegen.Error, that is the answer to
// the caller. The engine then checks that the model offers the ratio and the tier.
type Policy func(size imagegen.Size, quality imagegen.Quality, info imagegen.ModelInfo) (Choice, error)

// Choice is what a Policy makes of a request.
type Choice struct {
	Ratio imagegen.Ratio
	Tier  imagegen.Tier
	// QualityChoseTier says that the tier follows from the quality. A quality above Model.MaxEffort is then lowered to
	// it. Otherwise such a quality is refused, since the caller has asked for the effort itself.
	QualityChoseTier bool
}

// SizeFirst is a [Policy]. An explicit size decides both: the tier by its area
// ([imagegen.TierOf]), and the ratio as the nearest one that the model lists. With size auto, the
// quality decides the tier: auto and low 1K, medium 2K, high 4K.
func SizeFirst(size imagegen.Size, quality imagegen.Quality, info imagegen.ModelInfo) (Choice, error) {
	if size.Auto() {
		return Choice{imagegen.RatioAuto, tierByQuality(quality), true}, nil
	}
	ratio, err := ratioBySize(size, info)
	return Choice{Ratio: ratio, Tier: imagegen.TierOf(size.Area())}, err
}

// QualityFirst is a [Policy]. The quality always decides the tier, as with size auto in SizeFirst,
// and an explicit size the ratio. A size of a higher tier than that of the quality is refused; one
// of a lower tier is delivered as asked, at the price of the quality's tier.
func QualityFirst(size imagegen.Size, quality imagegen.Quality, info imagegen.ModelInfo) (Choice, error) {
	tier := tierByQuality(quality)
	if size.Auto() {
		return Choice{imagegen.RatioAuto, tier, true}, nil
	}
	if least := imagegen.TierOf(size.Area()); least.Above(tier) {
		return Choice{}, imagegen.InvalidField("size",
			"size %v is of tier %s, but quality %s buys tier %s; ask for a higher quality or a smaller size", size,
			least, quality, tier)
	}
	ratio, err := ratioBySize(size, info)
	return Choice{ratio, tier, true}, err
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

// widestSlack is how far a size may lie beyond the widest listed ratio. For an image whose shape the provider
// chooses it is looseSlack: the sizes that a provider makes of a ratio are rounded.
const widestSlack, looseSlack = 1.01, 1.1

// ratioBySize returns the nearest listed ratio. It refuses a size beyond the widest or
// the tallest one.
func ratioBySize(s imagegen.Size, info imagegen.ModelInfo) (imagegen.Ratio, error) {
	least, most := extremes(info.Ratios)
	if most == 0 {
		return "", imagegen.InvalidField("size", "model %.40q takes no explicit size; leave size out", info.ID)
	}
	if a := s.Aspect(); a > most*widestSlack || a < least/widestSlack {
		return "", imagegen.InvalidField("size", "size %v is too narrow for model %.40q; the nearest ratio is %s", s,
			info.ID, imagegen.NearestRatio(s, info.Ratios))
	}
	return imagegen.NearestRatio(s, info.Ratios), nil
}

// extremes returns the aspects of the narrowest and of the widest ratio; most is 0 if no ratio has a shape.
func extremes(ratios []imagegen.Ratio) (least, most float64) {
	least = math.Inf(1)
	for _, r := range ratios {
		if a := r.Aspect(); a > 0 {
			least, most = min(least, a), max(most, a)
		}
	}
	return least, most
}
