package system

import (
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen/console/internal/chart"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/history"
)

// upstreamLine is how an upstream has answered, hour by hour.
type upstreamLine struct {
	history.Upstream
	history.Answers        // over all hours
	Worst           string // the hour with the most failures, in words; "": there were no failures
	Bars            []hourBar
}

// hourBar is a bar for an hour in which the upstream was asked, in percent as in a chart. Its height is always the
// whole; the part that failed is at the top.
type hourBar struct {
	Since        time.Time // the beginning of the hour
	Asked        history.Answers
	X, Width     float64
	Failed, Well float64 // heights
}

// newUpstreamLine draws the history of one upstream. Hours in which it was not asked have no bar.
func newUpstreamLine(u history.UpstreamHistory, now time.Time) upstreamLine {
	l := upstreamLine{Upstream: u.Upstream}
	const width = 100.0 / history.Hours
	worst := history.Answers{}
	for i, a := range u.Hours {
		if a.All == 0 {
			continue
		}
		since := now.UTC().Truncate(time.Hour).Add(time.Duration(i-history.Hours+1) * time.Hour)
		failed := 100 * float64(a.Failed) / float64(a.All)
		l.Bars = append(l.Bars, hourBar{Since: since, Asked: a,
			X: chart.Hundredth(float64(i) * width), Width: chart.Hundredth(width * 0.8),
			Failed: chart.Hundredth(failed), Well: chart.Hundredth(100 - failed)})
		l.All += a.All
		l.Failed += a.Failed
		l.Refused += a.Refused
		if a.Failed > worst.Failed {
			worst = a
			l.Worst = fmt.Sprintf("%d of %d on %s", a.Failed, a.All, format.Moment(since))
		}
	}
	return l
}
