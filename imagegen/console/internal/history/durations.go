package history

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// bounds are the upper bounds of a histogram of durations, in seconds. The last is the longest that a synchronous
// call may take.
var bounds = [...]float64{.1, .25, .5, .75, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80,
	100, 120, 160, 200, 300, 400, 600, 800}

// Durations is a histogram: how many durations were within each bound and above the one before. The last element counts
// those above all bounds.
type Durations [len(bounds) + 1]int

// count counts one duration. One that equals a bound is within it.
func (d *Durations) count(took time.Duration) {
	i, _ := slices.BinarySearch(bounds[:], took.Seconds())
	d[i]++
}

// Within returns the bound within which a part of the durations lies, such as 0.95 of them; "" if there were none.
// The true percentile is above the bound before.
func (d Durations) Within(part float64) string {
	all := 0
	for _, n := range d {
		all += n
	}
	if all == 0 {
		return ""
	}
	missing := int(math.Ceil(part * float64(all)))
	for i, bound := range bounds {
		if missing -= d[i]; missing <= 0 {
			return fmt.Sprintf("%g s", bound)
		}
	}
	return fmt.Sprintf("over %g s", bounds[len(bounds)-1])
}
