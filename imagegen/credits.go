package imagegen

import (
	"errors"
	"time"
)

// Credits is an amount of credits, always whole. Amounts that are granted or charged lie between
// 1 and [MaxCredits]; what an account holds in all never exceeds MaxCredits either.
type Credits int64

// MaxCredits is 2⁵³−1, the largest integer that every JSON reader keeps exact (RFC 8259, section 6).
const MaxCredits Credits = 1<<53 - 1

var errCreditsRange = errors.New("imagegen: the amount of credits is out of range")

// Valid reports whether c can be granted or charged.
func (c Credits) Valid() bool { return c >= 1 && c <= MaxCredits }

// Times returns the price of n units; an error if the product is no valid amount.
func (c Credits) Times(n int) (Credits, error) {
	if !c.Valid() || n < 1 || Credits(n) > MaxCredits/c {
		return 0, errCreditsRange
	}
	return c * Credits(n), nil
}

// Balance is what an account can spend.
type Balance struct {
	Credits        Credits
	AccountType    string      // as the operator set it, DefaultAccountType if nobody did
	NextExpiration *Expiration // nil when nothing is due to expire
}

// Expiration tells how many of the credits expire first, and when.
type Expiration struct {
	Credits Credits
	At      time.Time
}
