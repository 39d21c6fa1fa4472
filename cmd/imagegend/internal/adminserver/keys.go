package adminserver

import (
	"context"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

func (l *Local) createKey(ctx context.Context, n admin.NewKey) (admin.RawKey, error) {
	u, err := l.user(ctx, n.User)
	if err != nil {
		return admin.RawKey{}, err
	}
	if !u.DisabledAt.IsZero() {
		return admin.RawKey{}, refusal("the user %q is disabled; a key for this user would not work", n.User)
	}
	accounts, limits := l.Engine.Accounts(), imagegen.KeyLimits(n.Limits)
	if n.Members != 0 {
		raw, k, err := accounts.MintMembersKey(ctx, u.ID, n.Name, n.Expires.Time, n.Members, limits)
		return admin.RawKey{Key: viewKey(k), Raw: raw.Reveal()}, words(err)
	}
	raw, k, err := accounts.MintLimitedKey(ctx, u.ID, n.Name, n.Expires.Time, limits)
	return admin.RawKey{Key: viewKey(k), Raw: raw.Reveal()}, words(err)
}

func (l *Local) listKeys(ctx context.Context, user string) ([]admin.Key, error) {
	u, err := l.user(ctx, user)
	if err != nil {
		return nil, err
	}
	keys, err := l.Engine.Accounts().Keys(ctx, u.ID)
	return lists.Each(keys, viewKey), words(err)
}

// rawPrefix begins every raw key. An argument that begins with it is a secret, and must appear in no error or log.
const rawPrefix = "img_"

func (l *Local) revokeKey(ctx context.Context, id imagegen.KeyID) (admin.Key, error) {
	return changedKey(id, func() (imagegen.Key, error) { return l.Engine.Accounts().RevokeKey(ctx, id) })
}

func (l *Local) limitKey(ctx context.Context, k admin.KeyLimit) (admin.Key, error) {
	return changedKey(k.ID, func() (imagegen.Key, error) {
		return l.Engine.Accounts().SetKeyLimits(ctx, k.ID, imagegen.KeyLimits(k.Limits))
	})
}

// changedKey applies a change to an API key. A raw key in place of its identifier is a likely mistake and is refused
// without repeating it.
func changedKey(id imagegen.KeyID, change func() (imagegen.Key, error)) (admin.Key, error) {
	if strings.HasPrefix(string(id), rawPrefix) {
		return admin.Key{},
			refusal("this is a key itself, not its KEY_ID, which begins with key_; imagegend key list --user NAME shows it beside the key's first characters")
	}
	k, err := change()
	return viewKey(k), missing(err, "there is no key %q; imagegend key list --user NAME shows a user's", id)
}

func viewKey(k imagegen.Key) admin.Key {
	return admin.Key{ID: k.ID, Name: k.Name, Prefix: k.Prefix, CreatedAt: at(k.CreatedAt), ExpiresAt: at(k.ExpiresAt),
		RevokedAt: at(k.RevokedAt), LastUsedAt: at(k.LastUsedAt), Limits: admin.KeyLimits(k.Limits), Members: k.Members}
}

// OperatorKeys manages the operator keys of the database. Keys expire by the time that the store trusts, not by the
// wall clock.
func (l *Local) OperatorKeys() *account.OperatorKeys {
	return account.NewOperatorKeys(l.DB, imagegen.NewIDs(), l.DB.Now)
}

func (l *Local) createOpsKey(ctx context.Context, n admin.NewOpsKey) (admin.RawOpsKey, error) {
	raw, k, err := l.OperatorKeys().Mint(ctx, n.Name, n.Scopes, n.Expires.Time)
	return admin.RawOpsKey{OpsKey: viewOpsKey(k), Raw: raw.Reveal()}, words(err)
}

func (l *Local) listOpsKeys(ctx context.Context, _ admin.None) ([]admin.OpsKey, error) {
	all, err := l.OperatorKeys().List(ctx)
	return lists.Each(all, viewOpsKey), words(err)
}

func (l *Local) revokeOpsKey(ctx context.Context, id imagegen.OperatorKeyID) (admin.OpsKey, error) {
	if strings.HasPrefix(string(id), rawPrefix) {
		return admin.OpsKey{},
			refusal("this is a key itself, not its ID, which begins with opk_; imagegend ops-key list shows it beside the key's first characters")
	}
	k, err := l.OperatorKeys().Revoke(ctx, id)
	return viewOpsKey(k), missing(err, "there is no operator key %q; imagegend ops-key list shows them all", id)
}

// viewOpsKey shows a key, with its scopes as a list; they are stored as one text with commas between them.
func viewOpsKey(k account.OperatorKey) admin.OpsKey {
	return admin.OpsKey{ID: k.ID, Name: k.Name, Prefix: k.Prefix, Scopes: strings.Split(string(k.Scopes), ","),
		CreatedAt: at(k.CreatedAt), ExpiresAt: at(k.ExpiresAt), RevokedAt: at(k.RevokedAt)}
}
