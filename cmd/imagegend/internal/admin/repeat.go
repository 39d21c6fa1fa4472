package admin

import (
	"cmp"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// sameTerms compares a repeated grant with the lot that its reference made. If promo, priority or expiry differ, it
// returns an ErrGrantConflict. now is when the repetition came.
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

// sameExpiry reports whether a repetition names the same expiry, or the same distance from now as the first grant
// from its time: a script that says --expires-in names another instant each time it runs.
func sameExpiry(g Grant, lot imagegen.Lot, now time.Time) bool {
	const commandTakes = time.Minute // at most, from reading the clock to the call of Grant
	if g.Expires.IsZero() || lot.Expires.IsZero() {
		return g.Expires.IsZero() && lot.Expires.IsZero()
	}
	// A time that came as JSON has whole milliseconds.
	if d := g.Expires.Sub(lot.Expires).Abs(); d < time.Millisecond {
		return true
	}
	return (g.Expires.Sub(now) - lot.Expires.Sub(lot.Effective)).Abs() < commandTakes
}
