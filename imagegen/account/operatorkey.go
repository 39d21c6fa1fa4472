package account

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Scope is one kind of what an operator can do.
type Scope string

// The scopes.
const (
	// see users, keys, credits, generations without their prompts, the audit trail and the state of the service
	ScopeRead    Scope = "read"
	ScopeUsers   Scope = "users"   // create, change, suspend and disable users
	ScopeKeys    Scope = "keys"    // make, limit and revoke API keys of users, and so read and spend as any user
	ScopeCredits Scope = "credits" // grant credits, take them back, and set who pays for a user
	ScopeData    Scope = "data"    // read prompts, erase generations, settle disputes, audit, back up
	ScopeAll     Scope = "all"     // everything, including what no other scope allows
)

// ScopeNames lists every scope.
func ScopeNames() []Scope {
	return []Scope{ScopeRead, ScopeUsers, ScopeKeys, ScopeCredits, ScopeData, ScopeAll}
}

// Scopes is a list of scopes separated by commas, such as "credits,read".
type Scopes string

// parseScopes reads scopes and puts them in order. ErrInvalidRequest: there is none, or one that does not exist.
func parseScopes(names []string) (Scopes, error) {
	for _, n := range names {
		if !slices.Contains(ScopeNames(), Scope(n)) {
			return "", imagegen.Invalid("there is no scope %.40q; there are %s", n, joined(ScopeNames()))
		}
	}
	if len(names) == 0 {
		return "", imagegen.Invalid("a key without a scope can do nothing; choose from %s", joined(ScopeNames()))
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return Scopes(strings.Join(slices.Compact(names), ",")), nil
}

func joined(scopes []Scope) string {
	var names []string
	for _, s := range scopes {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// Allow reports whether s contains a scope or ScopeAll.
func (s Scopes) Allow(scope Scope) bool {
	all := strings.Split(string(s), ",")
	return slices.Contains(all, string(scope)) || slices.Contains(all, string(ScopeAll))
}

// OperatorKey is a key with which a program does what an operator can do, within its scopes. Only
// its hash is stored; the raw key is shown once, when it is made.
type OperatorKey struct {
	ID        imagegen.OperatorKeyID
	Name      string   // what it is for
	Prefix    string   // the first characters of the raw key, for display
	Hash      [32]byte // SHA-256 of the raw key
	Scopes    Scopes
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
}

// OperatorKeyStore keeps operator keys: only their hashes, never the keys. It is
// optional. The contract of [imagegen.Store] on concurrency, durability and contexts
// holds here too, and that of [TrailStore] on acts.
type OperatorKeyStore interface {
	// CreateOperatorKey adds a key. Repeating it succeeds. ErrExists: another key has its
	// identifier or its hash.
	CreateOperatorKey(ctx context.Context, k OperatorKey) error
	// OperatorKeyByHash finds a key by the SHA-256 of the raw key, even if it is revoked
	// or has expired. ErrNotFound.
	OperatorKeyByHash(ctx context.Context, hash [32]byte) (OperatorKey, error)
	// OperatorKeys lists all keys, oldest first.
	OperatorKeys(ctx context.Context) ([]OperatorKey, error)
	// RevokeOperatorKey revokes a key for good and returns it. A repeated call does not change
	// the time. ErrNotFound.
	RevokeOperatorKey(ctx context.Context, id imagegen.OperatorKeyID, at time.Time) (OperatorKey, error)
}
