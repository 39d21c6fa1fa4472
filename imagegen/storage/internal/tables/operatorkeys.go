package tables

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

var _ account.OperatorKeyStore = (*Tables)(nil)

// An operator key's row is found by its hash, as those of other keys are. There are few, so they need no cache and no
// pages.
var (
	operatorKeys = table.New("operatorkeys", func(k *account.OperatorKey) []byte {
		return k.Hash[:]
	}, codeOperatorKey).Witnessed()
	operatorKeyByID = operatorKeys.Index("ids", func(k *account.OperatorKey) []byte { return kv.Key(string(k.ID)) })
)

// CreateOperatorKey implements [account.OperatorKeyStore]. A repetition leaves no row in the audit trail; a
// refusal does.
func (t *Tables) CreateOperatorKey(ctx context.Context, k account.OperatorKey) error {
	return t.act(ctx, account.ActOperatorKeyCreate, func(tx kv.Tx) (trail.Change, error) {
		return create(tx, operatorKeyByID, &k, trail.OperatorKeyCreated(k))
	})
}

// OperatorKeyByHash implements [account.OperatorKeyStore].
func (t *Tables) OperatorKeyByHash(ctx context.Context, hash [32]byte) (account.OperatorKey, error) {
	return view(ctx, t.db, func(tx kv.Tx) (account.OperatorKey, error) { return operatorKeys.Get(tx, hash[:]) })
}

// OperatorKeys implements [account.OperatorKeyStore]. Identifiers rise with time, so they give the order.
func (t *Tables) OperatorKeys(ctx context.Context) ([]account.OperatorKey, error) {
	return view(ctx, t.db, func(tx kv.Tx) (all []account.OperatorKey, err error) {
		for k, err := range operatorKeys.All(tx) {
			if err != nil {
				return nil, err
			}
			all = append(all, k)
		}
		slices.SortFunc(all, func(a, b account.OperatorKey) int { return strings.Compare(string(a.ID), string(b.ID)) })
		return all, nil
	})
}

// RevokeOperatorKey implements [account.OperatorKeyStore].
func (t *Tables) RevokeOperatorKey(ctx context.Context, id imagegen.OperatorKeyID,
	at time.Time) (k account.OperatorKey, err error) {
	err = t.act(ctx, account.ActOperatorKeyRevoke, func(tx kv.Tx) (c trail.Change, err error) {
		from, err := operatorKeyByID.Find(tx, kv.Key(string(id)))
		if k = from; err != nil {
			return trail.Change{Target: string(id)}, err
		}
		if !from.RevokedAt.IsZero() { // the first call's time stays
			return c, nil
		}
		k.RevokedAt = at
		operatorKeys.Put(tx, &from, &k)
		return trail.OperatorKeyRevoked(k), nil
	})
	return k, err
}
