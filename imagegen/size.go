package imagegen

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Size is an explicit output size in pixels. The zero value is auto: the provider chooses.
type Size struct{ Width, Height int }

// Each edge of an explicit size lies between MinEdge and MaxEdge.
const (
	MinEdge = 16
	MaxEdge = 8192
)

// ParseSize reads "auto" or WIDTHxHEIGHT: two decimal integers without sign or leading zero, each
// between MinEdge and MaxEdge.
func ParseSize(s string) (Size, error) {
	if s == "auto" {
		return Size{}, nil
	}
	w, h, ok := strings.Cut(s, "x")
	size := Size{edge(w), edge(h)}
	if !ok || size.Width == 0 || size.Height == 0 {
		return Size{},
			InvalidField("size",
				"size must be auto or WIDTHxHEIGHT with edges from %d to %d, such as 1024x768; got %.40q", MinEdge,
				MaxEdge, s)
	}
	return size, nil
}

func edge(s string) int {
	if len(s) > 4 || strings.Trim(s, "0123456789") != "" || strings.HasPrefix(s, "0") {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < MinEdge || n > MaxEdge {
		return 0
	}
	return n
}

// Auto reports whether the provider chooses the size.
func (s Size) Auto() bool { return s == Size{} }

// Valid reports whether s is auto or within the limits.
func (s Size) Valid() bool {
	return s.Auto() || (s.Width >= MinEdge && s.Width <= MaxEdge && s.Height >= MinEdge && s.Height <= MaxEdge)
}

// Area returns the number of pixels; 0 for auto.
func (s Size) Area() int { return s.Width * s.Height }

// Aspect returns width divided by height; NaN for auto.
func (s Size) Aspect() float64 { return float64(s.Width) / float64(s.Height) }

// String returns the form that ParseSize reads.
func (s Size) String() string {
	if s.Auto() {
		return "auto"
	}
	return fmt.Sprintf("%dx%d", s.Width, s.Height)
}

// Ratio is an aspect ratio written W:H, or "auto".
type Ratio string

// RatioAuto leaves the ratio to the provider.
const RatioAuto Ratio = "auto"

// Ratios lists every ratio of the specification (section 2.1), RatioAuto first.
func Ratios() []Ratio {
	return []Ratio{RatioAuto, "1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "5:4", "4:5",
		"21:9", "9:21", "2:1", "1:2", "3:1", "1:3"}
}

// Aspect returns width divided by height; 0 for RatioAuto and for an invalid ratio.
func (r Ratio) Aspect() float64 {
	if r == RatioAuto {
		return 0
	}
	w, h, _ := strings.Cut(string(r), ":")
	a, errA := strconv.Atoi(w)
	b, errB := strconv.Atoi(h)
	if errA != nil || errB != nil || a <= 0 || b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// NearestRatio returns the ratio among those given whose shape is nearest to that of s, by
// [ShapeDistance]; the first one if several are equally near; RatioAuto if none has a shape.
func NearestRatio(s Size, of []Ratio) Ratio {
	nearest, least := RatioAuto, math.Inf(1)
	for _, r := range of {
		if d := ShapeDistance(s.Aspect(), r.Aspect()); d < least { // of a ratio without a shape it is infinite
			nearest, least = r, d
		}
	}
	return nearest
}

// ShapeDistance returns how far apart two aspects are: the absolute logarithm of their quotient.
func ShapeDistance(a, b float64) float64 { return math.Abs(math.Log(a / b)) }

// Tier is a quality tier by resolution; it decides the price.
type Tier string

// The tiers of the specification (section 2.1).
const (
	Tier1K Tier = "1K"
	Tier2K Tier = "2K"
	Tier4K Tier = "4K"
)

// Tiers lists every tier, lowest first.
func Tiers() []Tier { return []Tier{Tier1K, Tier2K, Tier4K} }

// The most pixels of a tier.
const (
	maxOf1K = 1_700_000
	maxOf2K = 4_400_000
)

// TierOf returns the tier that a picture of this many pixels belongs to: 1K up to 1.7 million,
// 2K up to 4.4 million, 4K beyond.
func TierOf(pixels int) Tier {
	switch {
	case pixels <= maxOf1K:
		return Tier1K
	case pixels <= maxOf2K:
		return Tier2K
	}
	return Tier4K
}

// Pixels returns the smallest and the largest number of pixels of a picture of the tier.
func (t Tier) Pixels() (least, most int) {
	switch t {
	case Tier2K:
		return maxOf1K + 1, maxOf2K
	case Tier4K:
		return maxOf2K + 1, MaxEdge * MaxEdge
	}
	return 1, maxOf1K
}

// Quality is the effort that a request asks for. It is not the tier, but engine.Policy may derive
// the tier from it.
type Quality string

// The qualities of the specification (section 4.3).
const (
	QualityAuto   Quality = "auto"
	QualityLow    Quality = "low"
	QualityMedium Quality = "medium"
	QualityHigh   Quality = "high"
)

// Qualities lists every quality: QualityAuto, then least effort first.
func Qualities() []Quality {
	return []Quality{QualityAuto, QualityLow, QualityMedium, QualityHigh}
}

// Above reports whether t is a higher tier than o. An unknown tier is below all others.
func (t Tier) Above(o Tier) bool { return slices.Index(Tiers(), t) > slices.Index(Tiers(), o) }
