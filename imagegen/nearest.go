package imagegen

import "math"

// inRatio returns a size of the ratio that has the longer edge of s.
func (s Size) inRatio(r Ratio) Size {
	long := max(s.Width, s.Height)
	if a := r.Aspect(); a >= 1 {
		return Size{long, max(MinEdge, int(math.Round(float64(long)/a)))}
	} else {
		return Size{max(MinEdge, int(math.Round(float64(long)*a))), long}
	}
}

// nearestSize returns the size nearest to s, of its shape, that is of one of the tiers.
func nearestSize(s Size, tiers []Tier) Size {
	nearest, least := s, math.Inf(1)
	for _, t := range tiers {
		of := s.of(t)
		if d := math.Abs(math.Log(float64(of.Area()) / float64(s.Area()))); d < least {
			nearest, least = of, d
		}
	}
	return nearest
}

// of returns the size nearest to s, of its shape, that is of a tier.
func (s Size) of(t Tier) Size {
	least, most := 1, mostOf1K
	switch t {
	case Tier2K:
		least, most = mostOf1K+1, mostOf2K
	case Tier4K:
		least, most = mostOf2K+1, MaxEdge*MaxEdge
	}
	switch area := s.Area(); {
	case area < least:
		return s.scaled(float64(least)/float64(area), math.Ceil)
	case area > most:
		return s.scaled(float64(most)/float64(area), math.Floor)
	}
	return s
}

// scaled returns a size of so many times the area.
func (s Size) scaled(times float64, round func(float64) float64) Size {
	edges := math.Sqrt(times)
	return Size{int(round(edges * float64(s.Width))), int(round(edges * float64(s.Height)))}
}
