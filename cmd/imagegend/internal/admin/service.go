// Package admin is what an operator can do to a data directory. [Open] asks the server that has it open,
// through a unix socket, or opens the database itself; [Local] does the work.
package admin

import (
	"context"
	"io"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Service is what an operator can do. Users are named by their name. Errors are words for the
// operator: what happened, and what to do. It is safe for concurrent use.
type Service interface {
	CreateUser(ctx context.Context, u NewUser) (User, error)
	Users(ctx context.Context) ([]User, error)
	SetAccountType(ctx context.Context, t AccountType) (User, error)
	DisableUser(ctx context.Context, name string) (User, error)
	SuspendUser(ctx context.Context, name string) (User, error)
	ResumeUser(ctx context.Context, name string) (User, error)
	// RemovePasskeys has a user who lost them sign in with the password alone.
	RemovePasskeys(ctx context.Context, name string) (User, error)
	// InviteUser makes a link by which a user chooses a password, once. A former link is void.
	InviteUser(ctx context.Context, i Invitation) (Link, error)

	CreateKey(ctx context.Context, k NewKey) (RawKey, error)
	Keys(ctx context.Context, user string) ([]Key, error)
	RevokeKey(ctx context.Context, id string) (Key, error)
	LimitKey(ctx context.Context, l KeyLimit) (Key, error)

	// Usage sums up what a user was charged.
	Usage(ctx context.Context, q UsageQuery) (UsageReport, error)

	// CreateOpsKey makes a key by which a program acts as an operator, within its scopes.
	CreateOpsKey(ctx context.Context, k NewOpsKey) (RawOpsKey, error)
	OpsKeys(ctx context.Context) ([]OpsKey, error)
	RevokeOpsKey(ctx context.Context, id string) (OpsKey, error)

	// Grant and Revoke are idempotent by Ref.
	Grant(ctx context.Context, g Grant) (Granted, error)
	Revoke(ctx context.Context, r Revocation) (Revoked, error)
	Lots(ctx context.Context, user string) ([]Lot, error)
	History(ctx context.Context, p HistoryPage) ([]Entry, error)

	// Generations lists the newest first.
	Generations(ctx context.Context, q GenerationQuery) ([]GenerationLine, error)
	Generation(ctx context.Context, id string) (Generation, error)
	EraseGeneration(ctx context.Context, id string) error

	// Disputes lists the generations whose charge the ledger refuses to close, oldest first; Resolve
	// ends the dispute about one.
	Disputes(ctx context.Context) ([]Dispute, error)
	Resolve(ctx context.Context, how Resolution) (Dispute, error)

	// Trail lists the audit trail. What the other methods do or let see stands in it.
	Trail(ctx context.Context, q TrailQuery) (TrailPage, error)

	Audit(ctx context.Context) (imagegen.AuditReport, error)
	// Backup writes one archive of all that there is. After an error what was written is worthless.
	Backup(ctx context.Context, w io.Writer) error
	// Backups tells of the backups that the server makes of its own accord. Without a server none are made.
	Backups(ctx context.Context) (Backups, error)

	// Readiness tells whether the server takes work. Without a server none is taken.
	Readiness(ctx context.Context) (Readiness, error)
	Clock(ctx context.Context) (Clock, error)
	ConfirmClock(ctx context.Context) error
}

// NewUser is a user to create; Credits 0 grants none.
type NewUser struct {
	Name        string           `json:"name"`
	AccountType string           `json:"account_type"`
	Credits     imagegen.Credits `json:"credits"`
}

// AccountType is the type that a user gets.
type AccountType struct {
	User string `json:"user"`
	Type string `json:"account_type"`
}

// Invitation is a link to make. Without Operator the user keeps the role that they have.
type Invitation struct {
	User     string `json:"user"`
	Operator bool   `json:"operator"`
	Expires  Time   `json:"expires_at"`
}

// Link is where a user chooses a password: a whole address if the console is served, else its path.
type Link struct {
	Address string       `json:"address"`
	Role    account.Role `json:"role"`
}

// NewKey is a key to make; Expires zero: never.
type NewKey struct {
	User    string    `json:"user"`
	Name    string    `json:"name"`
	Expires Time      `json:"expires_at"`
	Limits  KeyLimits `json:"limits"`
}

// KeyLimit replaces the limits of a key.
type KeyLimit struct {
	ID     string    `json:"id"`
	Limits KeyLimits `json:"limits"`
}

// Grant adds credits.
type Grant struct {
	User     string           `json:"user"`
	Credits  imagegen.Credits `json:"credits"`
	Promo    bool             `json:"promo"`
	Priority int              `json:"priority"`
	Expires  Time             `json:"expires_at"`
	Ref      string           `json:"ref"`
}

// Granted is the lot that a grant made, or that stood under its reference already, and the
// balance at present.
type Granted struct {
	Lot      Lot              `json:"lot"`
	Balance  imagegen.Credits `json:"balance"`
	Repeated bool             `json:"repeated"` // the reference was used before: nothing was changed
}

// Revocation takes unspent credits back; Lot "" takes them in the order in which they would be consumed.
type Revocation struct {
	User    string           `json:"user"`
	Credits imagegen.Credits `json:"credits"`
	Lot     string           `json:"lot"`
	Ref     string           `json:"ref"`
}

// Revoked is the entry that a revocation made, or that stood under its reference already, with the
// balance at present.
type Revoked struct {
	Entry
	Repeated bool `json:"repeated"` // the reference was used before: nothing was changed
}

// HistoryPage asks for up to Limit entries before a sequence number; 0: the newest.
type HistoryPage struct {
	User   string `json:"user"`
	Before uint64 `json:"before"`
	Limit  int    `json:"limit"`
}
