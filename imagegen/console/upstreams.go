package console

import (
	"fmt"
	"time"
)

// upstreamLine is how an upstream has answered, hour by hour.
type upstreamLine struct {
	upstream
	answers        // over all hours
	Worst   string // the hour with the most failures, in words; "": there were no failures
	Bars    []hourBar
}

// hourBar is a bar for an hour in which the upstream was asked, in percent as in a chart. Its height is always the
// whole; the part that failed is at the top.
type hourBar struct {
	Since        time.Time // the beginning of the hour
	Asked        answers
	X, Width     float64
	Failed, Well float64 // heights
}

func upstreamLines(all []upstreamHistory, now time.Time) (lines []upstreamLine) {
	for _, u := range all {
		lines = append(lines, newUpstreamLine(u, now))
	}
	return lines
}

// newUpstreamLine draws the history of one upstream. Hours in which it was not asked have no bar.
func newUpstreamLine(u upstreamHistory, now time.Time) upstreamLine {
	l := upstreamLine{upstream: u.upstream}
	const width = 100.0 / HistoryHours
	worst := answers{}
	for i, a := range u.Hours {
		if a.All == 0 {
			continue
		}
		since := now.UTC().Truncate(time.Hour).Add(time.Duration(i-HistoryHours+1) * time.Hour)
		failed := 100 * float64(a.Failed) / float64(a.All)
		l.Bars = append(l.Bars, hourBar{Since: since, Asked: a, X: hundredth(float64(i) * width), Width: hundredth(width * 0.8),
			Failed: hundredth(failed), Well: hundredth(100 - failed)})
		l.All += a.All
		l.Failed += a.Failed
		if a.Failed > worst.Failed {
			worst = a
			l.Worst = fmt.Sprintf("%d of %d on %s", a.Failed, a.All, moment(since))
		}
	}
	return l
}
