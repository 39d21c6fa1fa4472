// Package admin is what an operator can do with the data of a service. [Service] lists the calls. [Local] carries
// them out on an opened database, remote asks a running server through its unix socket, and [Open] decides which of
// the two a command gets. [Ops] offers the same calls over HTTP to programs with operator keys.
//
// The audit trail names whoever acts: a context from [AsCommand], the peer of the socket, or an operator key. The
// package has no rules of its own about users, keys and credits; those are in packages account and engine and in the
// ledger. It adds the words that operators read.
package admin

import (
	"context"
	"io"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Service is what an operator can do. Users are named by their name. Errors are sentences for operators: what
// happened, and what to do. After ErrDisk, or when the connection to a server breaks, the outcome of a change is
// unknown. It is safe for concurrent use.
type Service interface {
	// CreateUser fails if the name is taken. If the credits cannot be granted, the user exists without them.
	CreateUser(ctx context.Context, u NewUser) (User, error)
	// Users lists all users by name, with balance and role.
	Users(ctx context.Context) ([]User, error)
	// SetAccountType changes the type that the user sees with the balance.
	SetAccountType(ctx context.Context, t AccountType) (User, error)
	// DisableUser makes all keys and sign-ins of a user invalid, for good. SuspendUser refuses new charges until
	// ResumeUser, which succeeds if there is no suspension.
	DisableUser(ctx context.Context, name string) (User, error)
	SuspendUser(ctx context.Context, name string) (User, error)
	ResumeUser(ctx context.Context, name string) (User, error)
	// RemovePasskeys removes all passkeys of a user who lost them. The password alone then signs in.
	RemovePasskeys(ctx context.Context, name string) (User, error)
	// InviteUser makes a link by which a user chooses a password, once. It makes an earlier link of the user useless.
	InviteUser(ctx context.Context, i Invitation) (Link, error)

	// CreateKey returns the raw key, which is stored nowhere. A disabled user gets none.
	CreateKey(ctx context.Context, k NewKey) (RawKey, error)
	// Keys lists a user's keys, oldest first. RevokeKey and LimitKey take effect at once; what a key has used counts
	// against new limits.
	Keys(ctx context.Context, user string) ([]Key, error)
	RevokeKey(ctx context.Context, id string) (Key, error)
	LimitKey(ctx context.Context, l KeyLimit) (Key, error)

	// Usage sums up what a user was charged, by day, model and key.
	Usage(ctx context.Context, q UsageQuery) (UsageReport, error)

	// CreateOpsKey makes a key with which a program acts as an operator, within its scopes.
	CreateOpsKey(ctx context.Context, k NewOpsKey) (RawOpsKey, error)
	OpsKeys(ctx context.Context) ([]OpsKey, error)
	RevokeOpsKey(ctx context.Context, id string) (OpsKey, error)

	// Grant and Revoke are idempotent by Ref, if there is one: a repetition changes nothing and returns what the
	// first call did. A repetition on other terms is an error.
	Grant(ctx context.Context, g Grant) (Granted, error)
	Revoke(ctx context.Context, r Revocation) (Revoked, error)
	// Lots lists the lots that have credits or hold some, in the order in which they are consumed. History is newest
	// first.
	Lots(ctx context.Context, user string) ([]Lot, error)
	History(ctx context.Context, p HistoryPage) ([]Entry, error)

	// Generations lists the newest first, without prompts. Generation shows one with its prompt, and the audit trail
	// notes that. EraseGeneration removes prompt and images of one that has ended, for good.
	Generations(ctx context.Context, q GenerationQuery) ([]GenerationLine, error)
	Generation(ctx context.Context, id string) (Generation, error)
	EraseGeneration(ctx context.Context, id string) error

	// Disputes lists the generations whose charge the ledger refuses to close, oldest first. Resolve ends the dispute
	// about one.
	Disputes(ctx context.Context) ([]Dispute, error)
	Resolve(ctx context.Context, how Resolution) (Dispute, error)

	// Trail lists the audit trail, which records the acts of the other methods.
	Trail(ctx context.Context, q TrailQuery) (TrailPage, error)

	// Audit checks the books and every image. It does not stop the service, and takes as long as there is data. An
	// error means that it could not be carried out; violations are in the report.
	Audit(ctx context.Context) (imagegen.AuditReport, error)
	// Backup writes one archive of everything. After an error, what was written is worthless. It does not close w.
	Backup(ctx context.Context, w io.Writer) error
	// Backups describes the scheduled backups of the server. Without a server there are none.
	Backups(ctx context.Context) (Backups, error)

	// Readiness says whether the server takes work. Without a server no work is taken.
	Readiness(ctx context.Context) (Readiness, error)
	// Clock says whether the wall clock is in doubt. ConfirmClock accepts it as it is, durably.
	Clock(ctx context.Context) (Clock, error)
	ConfirmClock(ctx context.Context) error
}

// NewUser is a user to create. AccountType "" is the default type; Credits 0 grants none.
type NewUser struct {
	Name        string           `json:"name"`
	AccountType string           `json:"account_type"`
	Credits     imagegen.Credits `json:"credits"`
}

// AccountType is the account type that a user is to get.
type AccountType struct {
	User string `json:"user"`
	Type string `json:"account_type"`
}

// Invitation is a link to make. Without Operator the user keeps their role; without Expires it works for InvitationAge.
type Invitation struct {
	User     string `json:"user"`
	Operator bool   `json:"operator"`
	Expires  Time   `json:"expires_at"`
}

// Link leads to where a user chooses a password. Address is a whole address if the server knows that of its console,
// else a path.
type Link struct {
	Address string       `json:"address"`
	Role    account.Role `json:"role"`
}

// NewKey is a key to make. A zero Expires means never.
type NewKey struct {
	User    string    `json:"user"`
	Name    string    `json:"name"`
	Expires Time      `json:"expires_at"`
	Limits  KeyLimits `json:"limits"`
}

// KeyLimit replaces all limits of a key; zero Limits remove them.
type KeyLimit struct {
	ID     string    `json:"id"`
	Limits KeyLimits `json:"limits"`
}

// Grant adds credits as one lot. Expires zero means never, Priority 0 the default. Without a Ref nothing protects
// against a repetition.
type Grant struct {
	User     string           `json:"user"`
	Credits  imagegen.Credits `json:"credits"`
	Promo    bool             `json:"promo"`
	Priority int              `json:"priority"`
	Expires  Time             `json:"expires_at"`
	Ref      string           `json:"ref"`
}

// Granted is the lot that a grant made, or that already existed under its reference, and the present balance.
type Granted struct {
	Lot      Lot              `json:"lot"`
	Balance  imagegen.Credits `json:"balance"`
	Repeated bool             `json:"repeated"` // the reference was used before: nothing was changed
}

// Revocation takes unspent credits back, all or none. Lot "" takes them in the order in which they would be consumed.
type Revocation struct {
	User    string           `json:"user"`
	Credits imagegen.Credits `json:"credits"`
	Lot     string           `json:"lot"`
	Ref     string           `json:"ref"`
}

// Revoked is the entry that a revocation made, or that already existed under its reference. Its Balance is the
// present one.
type Revoked struct {
	Entry
	Repeated bool `json:"repeated"` // the reference was used before: nothing was changed
}

// HistoryPage asks for up to Limit entries, at least 1, before a sequence number; the newest if that is 0.
type HistoryPage struct {
	User   string `json:"user"`
	Before uint64 `json:"before"`
	Limit  int    `json:"limit"`
}
