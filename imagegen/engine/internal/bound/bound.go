// Package bound finds how many requests an upstream takes at once, from what it says of overload.
package bound

import (
	"math"
	"time"
)

const (
	// fall is the part of a bound that remains when the upstream is overloaded.
	fall = 0.9
	// recovery is how long a bound takes from nothing to all of it.
	recovery = time.Minute
	// rest is the longest pause after an overload if the upstream names none; longestRest bounds the
	// pause that it names.
	rest        = time.Second
	longestRest = time.Minute
	// slack is how far requests may exceed the bound while they begin at even intervals: some take longer
	// than the average by which the intervals are computed.
	slack = 1.3
	// smooth is over how many requests, at least, the duration of one is averaged.
	smooth = 8
	// lookAgain is how soon a bound that grows is worth another look.
	lookAgain = time.Second
)

// Bound is how many requests an upstream can work on at once. It is not safe for
// concurrent use.
//
// When the upstream reports overload, the bound falls by a tenth, or to the number of
// requests that were not refused if that is less. It grows back with time along TCP's
// cubic curve: fast at first, slowly around the level that was too much, and then ever
// faster. So the upstream is seldom asked for more than it can do. While the bound is
// below its maximum, requests begin at even intervals, since an upstream may count
// requests per second or minute and not those at once.
type Bound struct {
	most     int
	underWay int           // requests that have begun and not ended
	peak     float64       // the bound at the last overload, which was too much
	low      float64       // the bound to which it then fell
	fell     time.Time     // when; zero: the bound is at its maximum
	next     time.Time     // no request begins before
	took     time.Duration // smoothed duration of a request; 0: not known yet
}

// New returns a bound that never exceeds most, and is never below 1.
func New(most int) *Bound { return &Bound{most: max(most, 1)} }

// SetMost changes the maximum of the bound.
func (b *Bound) SetMost(most int) { b.most = max(most, 1) }

// Most is the maximum of the bound.
func (b *Bound) Most() int { return b.most }

// UnderWay is how many requests are running.
func (b *Bound) UnderWay() int { return b.underWay }

// Now is how many requests may run at once now.
func (b *Bound) Now(now time.Time) int {
	level := b.level(now)
	if b.even() {
		level *= slack
	}
	return min(int(math.Round(level)), b.most)
}

// level is the bound before slack and rounding: the cubic curve through low at the time of the
// overload, flat at peak. When it reaches the maximum, the overload is forgotten.
func (b *Bound) level(now time.Time) float64 {
	most := float64(b.most)
	if b.fell.IsZero() {
		return most
	}
	flat := math.Cbrt((b.peak - b.low) / most) // where the curve is back at the peak
	level := b.peak + most*math.Pow(float64(now.Sub(b.fell))/float64(recovery)-flat, 3)
	if level >= most {
		b.fell = time.Time{}
	}
	return min(max(level, 1), most)
}

// even reports whether requests begin at even intervals.
func (b *Bound) even() bool { return !b.fell.IsZero() && b.took > 0 }

// Room is how many requests may begin now.
func (b *Bound) Room(now time.Time) int {
	free := max(b.Now(now)-b.underWay, 0)
	switch {
	case now.Before(b.next):
		return 0
	case b.even():
		return min(free, 1)
	}
	return free
}

// Opens is how long it takes until Room may grow although no request ends; 0: it will
// not.
func (b *Bound) Opens(now time.Time) time.Duration {
	switch {
	case now.Before(b.next):
		return b.next.Sub(now)
	case !b.fell.IsZero():
		return lookAgain
	}
	return 0
}

// Begin counts a request.
func (b *Bound) Begin(now time.Time) {
	b.underWay++
	if level := b.level(now); b.even() {
		b.next = now.Add(time.Duration(float64(b.took) / level))
	}
}

// Cancel removes a request about which the upstream has said nothing.
func (b *Bound) Cancel() { b.underWay-- }

// Done ends a request that the upstream has worked on since began.
func (b *Bound) Done(began, now time.Time) {
	b.underWay--
	took := now.Sub(began)
	if b.took == 0 {
		b.took = took
	}
	b.took += (took - b.took) / time.Duration(max(smooth, b.Now(now)))
}

// Overloaded ends a request, running since began, that was too much for the upstream.
// Nothing begins for pause, or for a minute if that is less. 0: the upstream named no
// pause.
func (b *Bound) Overloaded(began, now time.Time, pause time.Duration) {
	there := float64(b.underWay) // with this one
	b.underWay--
	switch {
	case began.Before(b.fell): // it began before the bound fell, and says nothing about the new bound
		b.low = max(1, min(b.low, there-1))
	default:
		b.peak = max(1, min(b.level(now), slack*there))
		b.low, b.fell = max(1, fall*b.peak), now
		if pause <= 0 {
			pause = b.defaultPause()
		}
	}
	if until := now.Add(min(pause, longestRest)); until.After(b.next) {
		b.next = until
	}
}

// defaultPause is the pause after an overload if the upstream names none.
func (b *Bound) defaultPause() time.Duration {
	if b.took > 0 {
		return min(b.took, rest)
	}
	return rest
}
