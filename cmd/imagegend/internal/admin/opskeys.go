package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

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
	ExpiresAt Time                   `json:"expires_at"`
	RevokedAt Time                   `json:"revoked_at"`
}

// RawOpsKey is an operator key at its creation, the only time that its secret is known.
type RawOpsKey struct {
	OpsKey
	Raw string `json:"key"`
}

// OperatorKeys manages the operator keys of the database. Keys expire by the time that the store trusts, not by the
// wall clock.
func (l *Local) OperatorKeys() *account.OperatorKeys {
	return account.NewOperatorKeys(l.DB, imagegen.NewIDs(), l.DB.Now)
}

// CreateOpsKey implements Service.
func (l *Local) CreateOpsKey(ctx context.Context, n NewOpsKey) (RawOpsKey, error) {
	raw, k, err := l.OperatorKeys().Mint(ctx, n.Name, n.Scopes, n.Expires.Time)
	return RawOpsKey{viewOpsKey(k), raw.Reveal()}, words(err)
}

// OpsKeys implements Service.
func (l *Local) OpsKeys(ctx context.Context) ([]OpsKey, error) {
	all, err := l.OperatorKeys().List(ctx)
	return each(all, viewOpsKey), words(err)
}

// RevokeOpsKey implements Service.
func (l *Local) RevokeOpsKey(ctx context.Context, id string) (OpsKey, error) {
	if strings.HasPrefix(id, rawPrefix) {
		return OpsKey{}, refusal("this is a key itself, not its ID, which begins with opk_; imagegend ops-key list shows it beside the key's first characters")
	}
	k, err := l.OperatorKeys().Revoke(ctx, imagegen.OperatorKeyID(id))
	if errors.Is(err, imagegen.ErrNotFound) {
		return OpsKey{}, &worded{fmt.Sprintf("there is no operator key %q; imagegend ops-key list shows them all", id), err}
	}
	return viewOpsKey(k), words(err)
}

// viewOpsKey shows a key, with its scopes as a list; they are stored as one text with commas between them.
func viewOpsKey(k account.OperatorKey) OpsKey {
	return OpsKey{ID: k.ID, Name: k.Name, Prefix: k.Prefix, Scopes: strings.Split(string(k.Scopes), ","), CreatedAt: Time{k.CreatedAt},
		ExpiresAt: Time{k.ExpiresAt}, RevokedAt: Time{k.RevokedAt}}
}
