package admin

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

var (
	// CreateKey makes an API key and returns its secret, which is stored nowhere. A disabled user gets none.
	CreateKey = Call[NewKey, RawKey]{Name: "create-key", Scope: account.ScopeKeys}
	// ListKeys lists the API keys of the user with this name, oldest first.
	ListKeys = Call[string, []Key]{Name: "keys", Scope: account.ScopeRead}
	// RevokeKey makes an API key invalid at once and for good.
	RevokeKey = Call[imagegen.KeyID, Key]{Name: "revoke-key", Scope: account.ScopeKeys}
	// LimitKey replaces the limits of an API key at once. What the key has used counts against the new limits.
	LimitKey = Call[KeyLimit, Key]{Name: "limit-key", Scope: account.ScopeKeys}

	// CreateOpsKey makes a key with which a program acts as an operator, within its scopes. This call and the next two
	// are only for people at the server, since a program could give itself more rights with them.
	CreateOpsKey = Call[NewOpsKey, RawOpsKey]{Name: "create-ops-key"}
	// ListOpsKeys lists all operator keys, oldest first.
	ListOpsKeys = Call[None, []OpsKey]{Name: "ops-keys"}
	// RevokeOpsKey makes an operator key invalid at once and for good.
	RevokeOpsKey = Call[imagegen.OperatorKeyID, OpsKey]{Name: "revoke-ops-key"}
)

// Key is an API key without its secret. Prefix is the beginning of the raw key, by which people recognize it.
type Key struct {
	ID         imagegen.KeyID `json:"id"`
	Name       string         `json:"name"`
	Prefix     string         `json:"prefix"`
	CreatedAt  Time           `json:"created_at"`
	ExpiresAt  Time           `json:"expires_at"`   // zero: never
	RevokedAt  Time           `json:"revoked_at"`   // zero: not revoked
	LastUsedAt Time           `json:"last_used_at"` // zero: never; may lag behind by a minute
	Limits     KeyLimits      `json:"limits"`
	// Members is how many people can become members of the user by the key, each with the limits; 0: it is not on
	// behalf of people, and the limits are its own.
	Members int `json:"members,omitempty"`
}

// KeyLimits bound what an API key can be used for; 0, and no model, means no limit. Its fields are those of
// [imagegen.KeyLimits] in the same order, so that the two convert into each other.
type KeyLimits struct {
	Credits    imagegen.Credits `json:"credits"`          // in all
	Daily      imagegen.Credits `json:"daily_credits"`    // on one day, in UTC
	Monthly    imagegen.Credits `json:"monthly_credits"`  // in one calendar month, in UTC
	Concurrent int              `json:"at_once"`          // generations that have not ended
	Models     []string         `json:"models,omitempty"` // the only ones that can be seen and asked for
}

// KeyUse is what counts against the limits of a key or of a member now. Its fields are those of [imagegen.KeyUse].
type KeyUse struct {
	Credits    imagegen.Credits `json:"credits"`         // in all
	Daily      imagegen.Credits `json:"daily_credits"`   // today, in UTC
	Monthly    imagegen.Credits `json:"monthly_credits"` // in this calendar month
	Concurrent int              `json:"at_once"`         // generations that have not ended
}

// KeyLimit replaces all limits of a key; zero Limits remove them.
type KeyLimit struct {
	ID     imagegen.KeyID `json:"id"`
	Limits KeyLimits      `json:"limits"`
}

// NewKey is an API key to make. A zero Expires means never.
type NewKey struct {
	User    string    `json:"user"` // the name
	Name    string    `json:"name"`
	Expires Time      `json:"expires_at"`
	Limits  KeyLimits `json:"limits"`
	// Members makes a key on behalf of so many people, as in [Key]. 0: a key for the user.
	Members int `json:"members,omitempty"`
}

// RawKey is an API key at its creation, the only time that its secret is known.
type RawKey struct {
	Key
	Raw string `json:"key"` // the secret: what a client sends
}

// NewOpsKey is an operator key to make. A zero Expires means never.
type NewOpsKey struct {
	Name    string   `json:"name"`
	Scopes  []string `json:"scopes"`
	Expires Time     `json:"expires_at"`
}

// OpsKey is an operator key without its secret.
type OpsKey struct {
	ID        imagegen.OperatorKeyID `json:"id"`
	Name      string                 `json:"name"`
	Prefix    string                 `json:"prefix"`
	Scopes    []string               `json:"scopes"`
	CreatedAt Time                   `json:"created_at"`
	ExpiresAt Time                   `json:"expires_at"` // zero: never
	RevokedAt Time                   `json:"revoked_at"` // zero: not revoked
}

// RawOpsKey is an operator key at its creation, the only time that its secret is known.
type RawOpsKey struct {
	OpsKey
	Raw string `json:"key"` // the secret: what a program sends
}
