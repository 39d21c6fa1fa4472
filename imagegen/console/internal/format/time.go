package format

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Moment formats a time as pages show it until a script replaces it with the reader's own time zone.
func Moment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

// Day formats the day of a time, in UTC.
func Day(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// Span formats a duration with its two largest units: 2 h 5 min. A negative one counts as zero.
func Span(d time.Duration) string {
	n := int(max(d, 0) / time.Second)
	switch {
	case n < 1:
		return "under 1 s"
	case n < 60:
		return fmt.Sprintf("%d s", n)
	case n < 60*60:
		return fmt.Sprintf("%d min %d s", n/60, n%60)
	case n < 24*60*60:
		return fmt.Sprintf("%d h %d min", n/3600, n/60%60)
	}
	return fmt.Sprintf("%s %d h", Count(n/86400, "day", "days"), n/3600%24)
}

// Ago says roughly how long before now something was, with the largest unit of Span.
func Ago(at, now time.Time) string {
	passed := now.Sub(at)
	if passed < time.Minute {
		return "just now"
	}
	words := strings.Fields(Span(passed))
	return strings.Join(words[:2], " ") + " ago"
}

// Seconds formats a duration that runs: tenths of a second below 10 s, minutes from 2 min on. playground.js continues
// the count in the same form. A negative one, of a clock that was set back, counts as zero.
func Seconds(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case d < 2*time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	}
	return strconv.Itoa(int(d.Minutes())) + " min"
}
