package imagegen

import (
	"fmt"
	"time"
)

// KeyLimits bound what one API key can be used for. Each is off where it is 0. Of credits count charges
// minus refunds, booked to the day of the charge, in UTC.
type KeyLimits struct {
	Credits Credits // in all
	Daily   Credits // on a day
	Monthly Credits // in a month
	AtOnce  int     // generations of the key that have not ended
}

// MaxAtOnce is the highest limit of requests at once.
const MaxAtOnce = 1_000_000

// Check returns an ErrInvalidRequest unless each limit is 0 or can be kept.
func (l KeyLimits) Check() error {
	for _, c := range []struct {
		name  string
		limit Credits
	}{{"credits", l.Credits}, {"credits per day", l.Daily}, {"credits per month", l.Monthly}} {
		if c.limit < 0 || c.limit > MaxCredits {
			return Invalid("a key's limit of %s is from 1 to %d, or 0 for none; got %d", c.name, MaxCredits, c.limit)
		}
	}
	if l.AtOnce < 0 || l.AtOnce > MaxAtOnce {
		return Invalid("a key's limit of requests at once is from 1 to %d, or 0 for none; got %d", MaxAtOnce, l.AtOnce)
	}
	return nil
}

// KeyUse is what counts against the limits of a key.
type KeyUse struct {
	Credits Credits // in all
	Daily   Credits // today
	Monthly Credits // in this month
	AtOnce  int     // generations that have not ended
}

// busyKey is when to ask again with a key that has as many requests at once as it may have.
const busyKey = 2 * time.Second

// Exceeds returns why the key, which was used so much, cannot be charged for so many credits more; nil if
// it can. ErrRateLimited: it has as many requests at once as it may have. ErrInsufficientCredits: a limit
// of credits, which the message names.
func (k Key) Exceeds(used KeyUse, cost Credits) error {
	if k.Limits.AtOnce > 0 && used.AtOnce >= k.Limits.AtOnce {
		return &Error{Code: CodeRateLimited, RetryAfter: busyKey,
			Message: fmt.Sprintf("%s may have %d requests at once, and has %d; try again when one has ended", k.told(), k.Limits.AtOnce, used.AtOnce)}
	}
	for _, c := range []struct {
		limit, used Credits
		when        string
	}{{k.Limits.Credits, used.Credits, "in all"}, {k.Limits.Daily, used.Daily, "a day (UTC)"}, {k.Limits.Monthly, used.Monthly, "a month (UTC)"}} {
		if c.limit > 0 && cost > c.limit-c.used {
			return &Error{Code: CodeInsufficientCredits,
				Message: fmt.Sprintf("%s is limited to %d credits %s; it has used %d, and this request costs %d", k.told(), c.limit, c.when, c.used, cost)}
		}
	}
	return nil
}

// told names the key to who holds it.
func (k Key) told() string {
	if k.Name == "" {
		return fmt.Sprintf("the API key %s", k.ID)
	}
	return fmt.Sprintf("the API key %q (%s)", k.Name, k.ID)
}
