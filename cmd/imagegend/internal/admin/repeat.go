package admin

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// lastEntry is the number of a user's newest journal entry: what is recorded now gets a higher one.
func (l *Local) lastEntry(ctx context.Context, u imagegen.UserID) (uint64, error) {
	newest, err := l.DB.History(ctx, u, 0, 1)
	if err != nil || len(newest) == 0 {
		return 0, words(err)
	}
	return newest[0].Seq, nil
}

// repeats reports whether a grant that succeeded recorded nothing after an entry: its reference was
// used before. The times of the entries do not tell, for the ledger's clock is its own.
func (l *Local) repeats(ctx context.Context, u imagegen.UserID, ref string, last uint64) (bool, error) {
	const page = 100
	if ref == "" {
		return false, nil
	}
	for before := uint64(0); ; {
		entries, err := l.DB.History(ctx, u, before, page)
		if err != nil {
			return false, words(err)
		}
		for _, e := range entries {
			switch {
			case e.Seq <= last:
				return true, nil
			case e.Kind == imagegen.EntryGrant && e.Ref == ref:
				return false, nil
			}
		}
		if len(entries) < page {
			return true, nil
		}
		before = entries[page-1].Seq
	}
}

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
	return fmt.Errorf("the reference %q was used before, at %s, for a grant on other terms: %s, priority %d, %s; nothing was changed",
		g.Ref, lot.Effective.UTC().Format(time.RFC3339), kind, lot.Priority, expiry)
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
