package chart_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/chart"
)

var newYear = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)

// on is an amount on a day of the year.
func on(day int, amount int64) chart.Day {
	return chart.Day{Date: newYear.AddDate(0, 0, day), Amount: amount}
}

func TestBars(t *testing.T) {
	is := is.New(t)
	days := []chart.Day{on(0, 4), on(3, 1), on(9, 2)}
	got := chart.New(chart.Credits, newYear, 10, days).Bars
	is.Equal(cmp.Diff([]chart.Bar{
		{Day: days[0], X: 1.5, Width: 7, Y: 0, Height: 100, Left: 0, Share: 10},
		{Day: days[1], X: 31.5, Width: 7, Y: 75, Height: 25, Left: 30, Share: 10},
		{Day: days[2], X: 91.5, Width: 7, Y: 50, Height: 50, Left: 90, Share: 10},
	}, got), "")
}

// A chart of any amounts and days stays within its bounds.
func TestChartFits(t *testing.T) {
	for _, n := range []int{1, 2, 7, 30, 90, 365} {
		for _, most := range []int64{1, 3, 7, 99, 100, 101, 12_345, int64(imagegen.MaxCredits)} {
			t.Run(fmt.Sprintf("%d days to %d", n, most), func(t *testing.T) {
				is := is.New(t)
				days := []chart.Day{on(n-1, most)}
				if n > 1 {
					days = append([]chart.Day{on(0, 1)}, days...)
				}
				c := chart.New(chart.Credits, newYear, n, days)
				for _, b := range c.Bars {
					is.True(0 <= b.Left && b.Left <= b.X && b.X+b.Width <= b.Left+b.Share && b.Left+b.Share <= 100.01)
					is.True(0 <= b.Y && 0 <= b.Height && math.Abs(b.Y+b.Height-100) < 0.011) // it stands on the ground
				}
				is.True(c.Bars[len(c.Bars)-1].Height > 66) // the highest uses the room
				is.True(len(c.Lines) >= 2 && len(c.Lines) <= 5)
				is.Equal(c.Lines[0].Y, 100.0)
				is.Equal(c.Lines[len(c.Lines)-1].Y, 0.0)
			})
		}
	}
}

func TestLines(t *testing.T) {
	for most, want := range map[int64]string{
		0: "0 1", 1: "0 1", 4: "0 1 2 3 4", 5: "0 2 4 6", 9: "0 5 10", 20: "0 5 10 15 20", 21: "0 10 20 30",
		300: "0 100 200 300", 8000: "0 2,000 4,000 6,000 8,000", 40_000: "0 10k 20k 30k 40k", 900_000: "0 500k 1M",
		5_500_000: "0 2M 4M 6M", 1_500_000_000: "0 500M 1G 1.5G",
		int64(imagegen.MaxCredits): "0 5P 10P",
	} {
		is := is.New(t)
		var labels []string
		for _, l := range chart.New(chart.Credits, newYear, 30, []chart.Day{on(0, most)}).Lines {
			labels = append(labels, l.Label)
		}
		is.Equal(strings.Join(labels, " "), want)
	}
}

func TestTicks(t *testing.T) {
	is := is.New(t)
	var got []string
	for _, k := range chart.New(chart.Credits, newYear, 365, nil).Ticks {
		got = append(got, fmt.Sprintf("%s %s %.2f", k.Date.Format("2 Jan"), k.Anchor, k.X))
	}
	is.Equal(got, []string{"1 Jan start 0.00", "2 Apr middle 25.07", "2 Jul middle 50.00", "1 Oct middle 74.93",
		"31 Dec end 100.00"})
}
