package ledger

import (
	"maps"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// billed reports whether a settlement is booked under the same model, key and day as its charge. open is nil where
// it settles nothing; then it must be booked under nothing.
func (c *checker) billed(open *Charge, e Entry) bool {
	if open == nil {
		return e.Kind != imagegen.EntrySettle || e.Model == "" && e.Key == "" && e.Member == "" && e.Images == 0 &&
			e.Charged.IsZero()
	}
	o, known := c.rows.Entry(open.Place)
	return known && e.Model == o.Model && e.Key == o.Key && e.Member == o.Member && e.Charged.Equal(o.Time) &&
		e.Images == paidImages(o, e.Used)
}

// usage compares a user's rows of usage, and the totals of the keys, with the replayed ones, in both directions.
func (c *checker) usage(u imagegen.UserID, replayed *memory) {
	page := replayed.page(u)
	rest, totals := maps.Clone(page.usage), maps.Clone(page.keys)
	for row := range c.rows.Usage(u, time.Unix(0, 0), endOfTime) {
		want, known := rest[row.UsageKey]
		if delete(rest, row.UsageKey); !known || row.UsageSums != want {
			c.report(broken("journal replay", u, "the journal leads to the usage %+v of %+v, there: %t; it is %+v",
				want, row.UsageKey, known, row.UsageSums))
		}
	}
	for key, want := range rest {
		c.report(broken("journal replay", u, "the journal leads to the usage %+v of %+v; there is none", want, key))
	}
	for total := range c.rows.KeyTotals(u) {
		want, known := totals[total.Key]
		if delete(totals, total.Key); !known || total != want {
			c.report(broken("journal replay", total.Key, "the journal leads to the total %+v, there: %t; it is %+v",
				want, known, total))
		}
	}
	for key, want := range totals {
		c.report(broken("journal replay", key, "the journal leads to the total %+v; there is none", want))
	}
}

// endOfTime is behind all days.
var endOfTime = time.Unix(1<<40, 0)
