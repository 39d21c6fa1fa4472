package console

import (
	"math"
	"strconv"
	"time"
)

// chart is a drawing of an amount on each of a number of days. Places and lengths are in
// hundredths of its width and height, so that it fits wherever it stands without being distorted.
type chart struct {
	Of    unit
	Bars  []bar
	Lines []line // across, at round amounts
	Ticks []tick // below, at some days
}

// unit is what a chart counts.
type unit struct{ One, Many string }

var (
	ofCredits = unit{"credit", "credits"}
	ofImages  = unit{"image", "images"}
)

// day is an amount on one day.
type day struct {
	Date   time.Time // its midnight, in UTC
	Amount int64
}

type bar struct {
	Day       day
	X, Width  float64 // of the bar
	Y, Height float64
	Left      float64 // of all that belongs to the day,
	Share     float64 // and how wide that is
}

type line struct {
	Y     float64
	Label string
}

type tick struct {
	X      float64
	Anchor string // which part of its label stands there
	Date   time.Time
}

// newChart draws days beginning at from. Each of those with an amount lies among them.
func newChart(of unit, from time.Time, days int, amounts []day) chart {
	var most int64
	for _, d := range amounts {
		most = max(most, d.Amount)
	}
	step := lineStep(most)
	top := max(1, (most+step-1)/step) * step
	share := 100 / float64(days)
	c := chart{Of: of, Lines: lines(step, top), Ticks: ticks(from, days)}
	for _, d := range amounts {
		left := share * math.Round(d.Date.Sub(from).Hours()/24)
		height := 100 * float64(d.Amount) / float64(top)
		c.Bars = append(c.Bars, bar{Day: d, X: hundredth(left + share*0.15), Width: hundredth(share * 0.7),
			Y: hundredth(100 - height), Height: hundredth(height), Left: hundredth(left), Share: hundredth(share)})
	}
	return c
}

// lineStep is 1, 2 or 5 with as many zeros as it takes for at most five lines.
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

func lines(step, top int64) (all []line) {
	for n := int64(0); n <= top; n += step {
		all = append(all, line{hundredth(100 - 100*float64(n)/float64(top)), short(n)})
	}
	return all
}

// ticks are the first day, the last, and some between.
func ticks(from time.Time, days int) (all []tick) {
	const intervals = 4
	for i := range intervals + 1 {
		n := int(math.Round(float64(i*(days-1)) / intervals))
		t := tick{hundredth(100 * (float64(n) + 0.5) / float64(days)), "middle", from.AddDate(0, 0, n)}
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

// short writes a round amount in little room: 500, 20k, 1.5M.
func short(n int64) string {
	if n < 10_000 {
		return thousands(n)
	}
	v, thousands := float64(n), 0
	for v >= 1000 {
		v, thousands = v/1000, thousands+1
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + "kMGTP"[thousands-1:thousands]
}

func hundredth(v float64) float64 { return math.Round(v*100) / 100 }
