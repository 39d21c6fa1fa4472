package imagegen

import (
	"strings"
	"time"
)

// DefaultAccountType is the account type of a user for whom no other was set.
const DefaultAccountType = "FREE"

// User owns keys, credits and generations.
type User struct {
	ID          UserID
	Name        string // unique
	AccountType string // matches [A-Z0-9_]+
	CreatedAt   time.Time
	DisabledAt  time.Time // zero: not disabled
	SuspendedAt time.Time // zero: not suspended
}

// RefusesCharge returns why nothing new can be charged to the user: ErrChargeRefused, if it is suspended; nil if it can.
func (u User) RefusesCharge() error {
	if u.SuspendedAt.IsZero() {
		return nil
	}
	return RefuseCharge("this account is suspended, and nothing was charged; ask the operator of this service")
}

// UserQuery selects from the users. The zero value is the first DefaultPageSize by name.
type UserQuery struct {
	Limit    int    // 1 to MaxPageSize; 0: DefaultPageSize
	After    string // continue behind this name; "": from the first
	Contains string // only names with this in them, whatever its case; "": all
}

// Matches reports whether q selects users of that name.
func (q UserQuery) Matches(name string) bool {
	return q.Contains == "" || strings.Contains(strings.ToLower(name), strings.ToLower(q.Contains))
}

// UserPage is one page of users, by name.
type UserPage struct {
	Users []User
	Next  string // the After of the next page; "": this is the last
}
