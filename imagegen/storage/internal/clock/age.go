package clock

import (
	"math"
	"time"
)

// Age is how long ago a time was, at least 0. A time that is later than now, by more than the clock may lag, was
// written by a clock that has been corrected since: it counts as the time of the last correction, so that what was
// dated by a fast clock ends as well. Where there was no correction, it counts as now.
func (r Reading) Age(at time.Time) time.Duration {
	if !at.After(r.Latest()) {
		return max(0, r.Now.Sub(at))
	}
	if r.Since.IsZero() {
		return 0
	}
	return max(0, r.Now.Sub(r.Since))
}

// Latest is the latest time that may have been written since the clock was corrected.
func (r Reading) Latest() time.Time { return r.Now.Add(longestLag) }

// Span is a range of times.
type Span struct{ After, UpTo time.Time }

// The first and the last time that is stored, see kv.Moment.
var first, last = time.Unix(0, math.MinInt64).UTC(), time.Unix(0, math.MaxInt64).UTC()

// Aged returns the spans of the times whose Age is at least age, which is above 0. A search for what has reached
// its age walks them by an index that is ordered by that time.
func (r Reading) Aged(age time.Duration) []Span {
	spans := []Span{{first, r.Now.Add(-age)}}
	if r.Age(last) >= age {
		spans = append(spans, Span{r.Latest(), last})
	}
	return spans
}
