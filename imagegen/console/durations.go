package console

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// bounds are the durations that are told apart, in seconds. A synchronous call may last 800 s.
var bounds = [...]float64{.1, .25, .5, .75, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 160, 200, 300, 400, 600, 800}

// durations counts how many there were up to each of the bounds, and behind the last.
type durations [len(bounds) + 1]int

func (d *durations) add(took time.Duration) {
	i, _ := slices.BinarySearch(bounds[:], took.Seconds())
	d[i]++
}

func (d *durations) merge(o durations) {
	for i, n := range o {
		d[i] += n
	}
}

// Within says within which of the bounds a part of them was over, such as 0.95; "" if there were none.
func (d durations) Within(part float64) string {
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
