package admin

import (
	"cmp"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// sameTerms is an error if a reference stands for a grant on other terms than the one that repeats it.
func sameTerms(g Grant, lot imagegen.Lot, now time.Time) error {
	if g.Promo == lot.Promo && cmp.Or(g.Priority, imagegen.DefaultPriority) == lot.Priority && sameExpiry(g, lot, now) {
		return nil
	}
	kind, expiry := "paid", "no expiry"
	if lot.Promo {
		kind = "promotional"
	}
	if !lot.Expires.IsZero() {
		expiry = "expiry " + lot.Expires.UTC().Format(time.RFC3339)
	}
	return &worded{fmt.Sprintf("the reference %q was used before, at %s, for a grant on other terms: %s, priority %d, %s; nothing was changed",
		g.Ref, lot.Effective.UTC().Format(time.RFC3339), kind, lot.Priority, expiry), imagegen.ErrGrantConflict}
}

// sameExpiry reports whether a repetition names the same time, or the same time from now as then: a
// script that says --expires-in says another time whenever it runs.
func sameExpiry(g Grant, lot imagegen.Lot, now time.Time) bool {
	const commandTakes = time.Minute // from when it read the clock until it got here
	if g.Expires.IsZero() || lot.Expires.IsZero() {
		return g.Expires.IsZero() && lot.Expires.IsZero()
	}
	if d := g.Expires.Sub(lot.Expires).Abs(); d < time.Millisecond { // which is how exact the socket is
		return true
	}
	return (g.Expires.Sub(now) - lot.Expires.Sub(lot.Effective)).Abs() < commandTakes
}
