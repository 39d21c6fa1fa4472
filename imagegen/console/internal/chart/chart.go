// Package chart lays out bar charts of an amount per day.
package chart

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen/console/internal/format"
)

// Chart is a bar chart of an amount per day. All positions and lengths are percentages of its width or height, so
// that it fits any box without distortion.
type Chart struct {
	Of    Unit
	Bars  []Bar  // of the days with an amount, in order
	Lines []Line // across, at round amounts
	Ticks []Tick // below, at some days
}

// Unit is what a chart counts.
type Unit struct{ One, Many string }

// Credits are what most charts count.
var Credits = Unit{"credit", "credits"}

// Day is an amount on one day.
type Day struct {
	Date   time.Time // its midnight, in UTC
	Amount int64
}

// Bar is a day of the chart. Left and Share are the whole column of the day, which reacts to the pointer.
type Bar struct {
	Day         Day
	X, Width    float64
	Y, Height   float64
	Left, Share float64
}

// Line is a horizontal line with the amount that it stands for.
type Line struct {
	Y     float64
	Label string
}

// Tick is a label below the chart.
type Tick struct {
	X      float64
	Anchor string // which part of the label is at X, as SVG's text-anchor
	Date   time.Time
}

// New draws the given number of days, beginning at from, a midnight in UTC. amounts must lie within those days;
// days without an amount can be left out. The scale has room for the amounts of other charts too, beside which this one
// stands.
func New(of Unit, from time.Time, days int, amounts []Day, others ...Day) Chart {
	var most int64
	for _, d := range slices.Concat(amounts, others) {
		most = max(most, d.Amount)
	}
	step := lineStep(most)
	top := max(1, (most+step-1)/step) * step // the highest line: the first step that is not below any bar
	share := 100 / float64(days)
	c := Chart{Of: of, Lines: lines(step, top), Ticks: ticks(from, days)}
	for _, d := range amounts {
		left := share * math.Round(d.Date.Sub(from).Hours()/24)
		height := 100 * float64(d.Amount) / float64(top)
		c.Bars = append(c.Bars, Bar{Day: d, X: Hundredth(left + share*0.15), Width: Hundredth(share * 0.7),
			Y: Hundredth(100 - height), Height: Hundredth(height), Left: Hundredth(left), Share: Hundredth(share)})
	}
	return c
}

// lineStep is the distance between lines: the smallest of 1, 2, 5, 10, 20, … that needs at most five lines.
func lineStep(most int64) int64 {
	const intervals = 4
	for tens := int64(1); ; tens *= 10 {
		for _, step := range []int64{tens, 2 * tens, 5 * tens} {
			if most <= intervals*step {
				return step
			}
		}
	}
}

// lines are the lines from 0 to top, both included.
func lines(step, top int64) (all []Line) {
	for n := int64(0); n <= top; n += step {
		all = append(all, Line{Hundredth(100 - 100*float64(n)/float64(top)), short(n)})
	}
	return all
}

// ticks are the first day, the last, and three between. The outer labels are aligned to the edges, so that they do not
// stick out.
func ticks(from time.Time, days int) (all []Tick) {
	const intervals = 4
	for i := range intervals + 1 {
		n := int(math.Round(float64(i*(days-1)) / intervals))
		t := Tick{Hundredth(100 * (float64(n) + 0.5) / float64(days)), "middle", from.AddDate(0, 0, n)}
		switch i {
		case 0:
			t.X, t.Anchor = 0, "start"
		case intervals:
			t.X, t.Anchor = 100, "end"
		}
		all = append(all, t)
	}
	return all
}

// short formats a round amount briefly: 500, 20k, 1.5M.
func short(n int64) string {
	if n < 10_000 {
		return format.Integer(n)
	}
	v, thousands := float64(n), 0
	for v >= 1000 {
		v, thousands = v/1000, thousands+1
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + "kMGTP"[thousands-1:thousands]
}

// Hundredth rounds a percentage to two digits, which is finer than any screen.
func Hundredth(v float64) float64 { return math.Round(v*100) / 100 }
