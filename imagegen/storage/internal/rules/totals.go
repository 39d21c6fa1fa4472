package rules

import (
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Totals are the sums of an audit: what generations count for, less the totals that are kept of them. They are by day
// and model, so that their number does not grow with the users.
type Totals map[imagegen.TotalsKey]imagegen.Totals

// Add adds what counts for a key.
func (s Totals) Add(k imagegen.TotalsKey, t imagegen.Totals) {
	k.User, k.Key = "", ""
	s[k] = s[k].Plus(t)
}

// Check reports the sums that are not zero.
func (s Totals) Check(report func(imagegen.Violation)) {
	for k, t := range s {
		if t != (imagegen.Totals{}) {
			report(imagegen.Violation{Rule: "totals", Subject: k.Day.Format(time.DateOnly) + " " + k.Model,
				Detail: fmt.Sprintf("the generations count for more than their totals by %+v", t)})
		}
	}
}
