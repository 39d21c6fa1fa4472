package admin

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

var (
	// CreateUser fails if the name is taken. If the credits cannot be granted, the user exists without them. Over HTTP
	// it grants none, since a repetition would not be noticed: use GrantCredits.
	CreateUser = Call[NewUser, User]{Name: "create-user", Scope: account.ScopeUsers}
	// ListUsers lists all users in the order of their names.
	ListUsers = Call[None, []User]{Name: "users", Scope: account.ScopeRead}
	// SetAccountType changes the type that the user sees with the balance. Type "" gives a member that of its sponsor.
	SetAccountType = Call[AccountType, User]{Name: "set-account-type", Scope: account.ScopeUsers}
	// DisableUser makes all keys and sign-ins of the user with this name invalid, for good.
	DisableUser = Call[string, User]{Name: "disable-user", Scope: account.ScopeUsers}
	// SuspendUser suspends the user with this name until ResumeUser: new charges are refused, but everything can still
	// be read with the user's keys and sign-ins.
	SuspendUser = Call[string, User]{Name: "suspend-user", Scope: account.ScopeUsers}
	// ResumeUser ends the suspension of the user with this name. It succeeds if there is none.
	ResumeUser = Call[string, User]{Name: "resume-user", Scope: account.ScopeUsers}
	// SetSponsor has a sponsor pay for everything that a user asks for from now on, within limits: the user is its
	// member. With Sponsor "" the user pays again. A user with credits cannot get a sponsor. It has the scope of
	// grants, since it gives one user the credits of another.
	SetSponsor = Call[Sponsorship, User]{Name: "set-sponsor", Scope: account.ScopeCredits}
	// ListMembers lists the members of the sponsor with this name, in the order of their names, with what counts
	// against their limits.
	ListMembers = Call[string, []Member]{Name: "members", Scope: account.ScopeRead}
	// RemovePasskeys removes all passkeys of the user with this name, who lost them. The password alone then signs in.
	// It is only for people at the server.
	RemovePasskeys = Call[string, User]{Name: "remove-passkeys"}
	// InviteUser makes a link by which a user chooses a password, once. It makes an earlier link of the user useless.
	// It needs every right: a program that can invite an operator can become one.
	InviteUser = Call[Invitation, Link]{Name: "invite-user", Scope: account.ScopeAll}
)

// User is a user with the current balance and the role in the console.
type User struct {
	ID          imagegen.UserID  `json:"id"`
	Name        string           `json:"name"`
	AccountType string           `json:"account_type"` // of a member for whom none was set: the sponsor's
	Role        account.Role     `json:"role"`
	Credits     imagegen.Credits `json:"credits"`
	CreatedAt   Time             `json:"created_at"`
	DisabledAt  Time             `json:"disabled_at"`  // zero: not disabled
	SuspendedAt Time             `json:"suspended_at"` // zero: not suspended

	NotifyBelow imagegen.Credits `json:"notify_below,omitempty"` // an event says that the balance fell below it

	Sponsor string     `json:"sponsor,omitempty"` // the name of who pays; "": the user
	Limits  *KeyLimits `json:"limits,omitempty"`  // of a member; nil: none
}

// Sponsorship says who pays for a user.
type Sponsorship struct {
	User    string    `json:"user"`    // the name
	Sponsor string    `json:"sponsor"` // the name; "": the user itself
	Limits  KeyLimits `json:"limits"`  // zero: none
}

// Member is a user for whom a sponsor pays, with what the sponsor has paid so far.
type Member struct {
	ID          imagegen.UserID `json:"id"`
	Name        string          `json:"name"`
	Display     string          `json:"display"` // how it is called; "": as Name says
	Limits      KeyLimits       `json:"limits"`
	Used        KeyUse          `json:"used"` // what counts against the limits
	DisabledAt  Time            `json:"disabled_at"`
	SuspendedAt Time            `json:"suspended_at"`
}

// NewUser is a user to create. AccountType "" is imagegen.DefaultAccountType; Credits 0 grants none.
type NewUser struct {
	Name        string           `json:"name"`
	AccountType string           `json:"account_type"`
	Credits     imagegen.Credits `json:"credits"`
}

// AccountType is the account type that a user is to get.
type AccountType struct {
	User string `json:"user"` // the name
	Type string `json:"account_type"`
}

// InvitationAge is how long a link works unless somebody says otherwise.
const InvitationAge = 72 * time.Hour

// Invitation is a link to make. Without Operator the user keeps their role; without Expires it works for InvitationAge.
type Invitation struct {
	User     string `json:"user"` // the name
	Operator bool   `json:"operator"`
	Expires  Time   `json:"expires_at"`
}

// Link leads to where a user chooses a password. Address is a whole address if the server knows that of its console,
// else a path.
type Link struct {
	Address string       `json:"address"`
	Role    account.Role `json:"role"`
}
