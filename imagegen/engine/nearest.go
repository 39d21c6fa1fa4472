package engine

import (
	"errors"
	"math"
	"sort"

	"github.com/imagegend/imagegend/imagegen"
)

// withNearest adds to the refusal of an explicit size the nearest size that is possible,
// if there is one, unless it is the quality that is refused. It prefers a size that the model makes directly to one
// that must be cropped.
func (m catalogEntry) withNearest(policy Policy, r imagegen.Record, files attached, refusal error) error {
	e, ok := errors.AsType[*imagegen.Error](refusal)
	if r.Size.Auto() || !ok || e.Field == "quality" || e.Code != imagegen.CodeInvalidRequest {
		return refusal
	}
	can := func(s imagegen.Size) bool {
		r.Size = s
		return s.Valid() && m.resolve(policy, &r) == nil && m.checkCapabilities(r, files) == nil &&
			m.checkProvider(r, files) == nil
	}
	nearest, ok := nearestSize(r.Size, m.info.Ratios, can)
	if !ok {
		return refusal
	}
	return imagegen.InvalidField("size", "%s; the nearest size is %v", e.Message,
		uncut(nearest, func(s imagegen.Size) bool { return can(s) && m.can.MakesExactSize(request(r, files)) }))
}

// uncut returns a size a little smaller than s that the model makes directly, since
// models make edges in steps; s if there is none.
func uncut(s imagegen.Size, exactly func(imagegen.Size) bool) imagegen.Size {
	for _, step := range []int{1, 8, 16, 32, 64} {
		if z := (imagegen.Size{Width: s.Width / step * step, Height: s.Height / step * step}); exactly(z) {
			return z
		}
	}
	return s
}

// nearestSize returns the possible size that differs least from s, the shape counting
// most. It compares the largest possible size of each shape and tier, if possible with no
// longer edge than s. It assumes that within a tier every smaller size is possible if a
// larger one is, and calls can about forty times for each ratio that may come nearer.
func nearestSize(s imagegen.Size, ratios []imagegen.Ratio, can func(imagegen.Size) bool) (nearest imagegen.Size,
	ok bool) {
	aspects, least := []float64{s.Aspect()}, math.Inf(1)
	for _, r := range ratios {
		if a := r.Aspect(); a > 0 {
			aspects = append(aspects, a)
		}
	}
	for _, a := range aspects {
		if shapeWeight*imagegen.ShapeDistance(s.Aspect(), a) >= least {
			continue
		}
		for _, t := range imagegen.Tiers() {
			had, found := largestOf(t, a, max(s.Width, s.Height), can)
			if d := dissimilarity(s, had); found && d < least {
				nearest, least, ok = had, d, true
			}
		}
	}
	return nearest, ok
}

// shapeWeight is how much more the shape counts than the area.
const shapeWeight = 10

// dissimilarity is how much two sizes differ.
func dissimilarity(s, o imagegen.Size) float64 {
	return shapeWeight*imagegen.ShapeDistance(s.Aspect(), o.Aspect()) +
		math.Abs(math.Log(float64(s.Area())/float64(o.Area())))
}

// largestOf returns the largest possible size of a tier and an aspect. If the tier has
// sizes with a longer edge up to long, it is no larger than that.
//
// Three binary searches over the longer edge find the smallest size of the tier, its largest
// one, and between them the largest that can accepts, under the assumption of nearestSize.
func largestOf(t imagegen.Tier, aspect float64, long int, can func(imagegen.Size) bool) (imagegen.Size, bool) {
	least, most := t.Pixels()
	smallest := sort.Search(imagegen.MaxEdge, func(l int) bool {
		s := sizeWith(l, aspect)
		return s.Area() >= least && min(s.Width, s.Height) >= imagegen.MinEdge
	})
	largest := sort.Search(imagegen.MaxEdge+1, func(l int) bool { return sizeWith(l, aspect).Area() > most }) - 1
	largest = max(smallest, min(largest, long))
	smaller := sort.Search(largest-smallest+1, func(n int) bool { return can(sizeWith(largest-n, aspect)) })
	return sizeWith(largest-smaller, aspect), smaller <= largest-smallest
}

// sizeWith returns a size with that longer edge and that aspect, within widestSlack.
func sizeWith(long int, aspect float64) imagegen.Size {
	elongation := max(aspect, 1/aspect)
	short := int(math.Round(float64(long) / elongation))
	if float64(long) > elongation*widestSlack*float64(short) {
		short++
	}
	if aspect < 1 {
		return imagegen.Size{Width: short, Height: long}
	}
	return imagegen.Size{Width: long, Height: short}
}
