package crash_test

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// store is the store of one process. Of the optional parts it has only TxStore: the steps are those that every
// storage has.
type store struct {
	imagegen.TxStore
	*steps
	joint bool // it commits together with the ledger
}

var _ imagegen.TxStore = store{}

// calls are all that a process makes of what it is given, by their names as steps.
var calls = []string{
	"Create", "CreateCharged", "Update", "FinishSettled", "Generation", "Generations", "GenerationByIdempotencyKey",
	"Ended", "Forgettable", "Claim", "ClaimAged", "Recover", "Extend", "Queued",
	"CreateUser", "User", "UserByName", "SetAccountType", "DisableUser", "SuspendUser", "ResumeUser",
	"SetSponsor", "CreateMember",
	"CreateKey", "KeyByHash", "Keys", "RevokeKey", "TouchKeys",
	"Charge", "Settle", "Balance",
	"PutImage", "OpenImage", "RemoveImages",
	"Stage", "Keep", "Open", "Remove",
	"submit", "image",
}

func (s store) Joins(imagegen.Ledger) bool { return s.joint }

func (s store) Create(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	return step(s.steps, "Create", func() (imagegen.Record, error) { return s.TxStore.Create(ctx, r, lease) })
}

func (s store) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	return step(s.steps, "Update", func() (imagegen.Record, error) { return s.TxStore.Update(ctx, f, c) })
}

func (s store) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	return step(s.steps, "CreateCharged", func() (imagegen.Record, error) {
		return s.TxStore.CreateCharged(ctx, r, lease)
	})
}

func (s store) FinishSettled(ctx context.Context, f imagegen.Fence, o imagegen.OutcomeChange) (imagegen.Record, error) {
	return step(s.steps, "FinishSettled", func() (imagegen.Record, error) {
		return s.TxStore.FinishSettled(ctx, f, o)
	})
}

func (s store) Generation(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	return step(s.steps, "Generation", func() (imagegen.Record, error) { return s.TxStore.Generation(ctx, id) })
}

func (s store) Generations(ctx context.Context, u imagegen.UserID, q imagegen.Query) (records []imagegen.Record,
	more bool, err error) {
	err = act(s.steps, "Generations", func() (err error) {
		records, more, err = s.TxStore.Generations(ctx, u, q)
		return err
	})
	return records, more, err
}

func (s store) GenerationByIdempotencyKey(ctx context.Context, u imagegen.UserID, key string) (imagegen.Record, error) {
	return step(s.steps, "GenerationByIdempotencyKey", func() (imagegen.Record, error) {
		return s.TxStore.GenerationByIdempotencyKey(ctx, u, key)
	})
}

func (s store) Claim(ctx context.Context, d imagegen.ClaimRequest) (records []imagegen.Record, next time.Duration,
	err error) {
	err = act(s.steps, "Claim", func() (err error) {
		records, next, err = s.TxStore.Claim(ctx, d)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return records, next, nil
}

func (s store) ClaimAged(ctx context.Context, age time.Duration, n int,
	lease time.Duration) ([]imagegen.Record, error) {
	return step(s.steps, "ClaimAged", func() ([]imagegen.Record, error) {
		return s.TxStore.ClaimAged(ctx, age, n, lease)
	})
}

func (s store) Recover(ctx context.Context, n int, lease time.Duration) ([]imagegen.Record, error) {
	return step(s.steps, "Recover", func() ([]imagegen.Record, error) { return s.TxStore.Recover(ctx, n, lease) })
}

func (s store) Extend(ctx context.Context, lease time.Duration, fences ...imagegen.Fence) ([]imagegen.Fence, error) {
	return step(s.steps, "Extend", func() ([]imagegen.Fence, error) {
		return s.TxStore.Extend(ctx, lease, fences...)
	})
}

func (s store) Ended(ctx context.Context, age time.Duration, n int) ([]imagegen.Record, error) {
	return step(s.steps, "Ended", func() ([]imagegen.Record, error) { return s.TxStore.Ended(ctx, age, n) })
}

func (s store) Forgettable(ctx context.Context, state imagegen.State, age time.Duration,
	n int) ([]imagegen.Fence, error) {
	return step(s.steps, "Forgettable", func() ([]imagegen.Fence, error) {
		return s.TxStore.Forgettable(ctx, state, age, n)
	})
}

func (s store) Queued(ctx context.Context, u imagegen.UserID) (imagegen.QueueLength, error) {
	return step(s.steps, "Queued", func() (imagegen.QueueLength, error) { return s.TxStore.Queued(ctx, u) })
}

func (s store) User(ctx context.Context, id imagegen.UserID) (imagegen.User, error) {
	return step(s.steps, "User", func() (imagegen.User, error) { return s.TxStore.User(ctx, id) })
}

func (s store) UserByName(ctx context.Context, name string) (imagegen.User, error) {
	return step(s.steps, "UserByName", func() (imagegen.User, error) { return s.TxStore.UserByName(ctx, name) })
}

func (s store) CreateUser(ctx context.Context, u imagegen.User) error {
	return act(s.steps, "CreateUser", func() error { return s.TxStore.CreateUser(ctx, u) })
}

func (s store) SetAccountType(ctx context.Context, id imagegen.UserID, accountType string) error {
	return act(s.steps, "SetAccountType", func() error { return s.TxStore.SetAccountType(ctx, id, accountType) })
}

func (s store) DisableUser(ctx context.Context, id imagegen.UserID, at time.Time) error {
	return act(s.steps, "DisableUser", func() error { return s.TxStore.DisableUser(ctx, id, at) })
}

func (s store) SuspendUser(ctx context.Context, id imagegen.UserID, at time.Time) error {
	return act(s.steps, "SuspendUser", func() error { return s.TxStore.SuspendUser(ctx, id, at) })
}

func (s store) ResumeUser(ctx context.Context, id imagegen.UserID) error {
	return act(s.steps, "ResumeUser", func() error { return s.TxStore.ResumeUser(ctx, id) })
}

func (s store) SetSponsor(ctx context.Context, id, sponsor imagegen.UserID, l imagegen.KeyLimits) error {
	return act(s.steps, "SetSponsor", func() error { return s.TxStore.SetSponsor(ctx, id, sponsor, l) })
}

func (s store) CreateMember(ctx context.Context, u imagegen.User, most int) error {
	return act(s.steps, "CreateMember", func() error { return s.TxStore.CreateMember(ctx, u, most) })
}

func (s store) Keys(ctx context.Context, u imagegen.UserID) ([]imagegen.Key, error) {
	return step(s.steps, "Keys", func() ([]imagegen.Key, error) { return s.TxStore.Keys(ctx, u) })
}

func (s store) CreateKey(ctx context.Context, k imagegen.Key) error {
	return act(s.steps, "CreateKey", func() error { return s.TxStore.CreateKey(ctx, k) })
}

func (s store) KeyByHash(ctx context.Context, hash [32]byte) (imagegen.Key, error) {
	return step(s.steps, "KeyByHash", func() (imagegen.Key, error) { return s.TxStore.KeyByHash(ctx, hash) })
}

func (s store) RevokeKey(ctx context.Context, id imagegen.KeyID, at time.Time) (imagegen.Key, error) {
	return step(s.steps, "RevokeKey", func() (imagegen.Key, error) { return s.TxStore.RevokeKey(ctx, id, at) })
}

func (s store) SetKeyLimits(ctx context.Context, id imagegen.KeyID, l imagegen.KeyLimits) (imagegen.Key, error) {
	return step(s.steps, "SetKeyLimits", func() (imagegen.Key, error) { return s.TxStore.SetKeyLimits(ctx, id, l) })
}

func (s store) TouchKeys(ctx context.Context, used map[imagegen.KeyID]time.Time) error {
	return act(s.steps, "TouchKeys", func() error { return s.TxStore.TouchKeys(ctx, used) })
}

// ledger is the ledger of one process.
type ledger struct {
	imagegen.Ledger
	*steps
	refusing *atomic.Bool
}

func (l ledger) Charge(ctx context.Context, c imagegen.Charge) error {
	return act(l.steps, "Charge", func() error { return l.Ledger.Charge(ctx, c) })
}

func (l ledger) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	return act(l.steps, "Settle", func() error {
		if l.refusing.Load() {
			return imagegen.ChargeRefused("the account is closed")
		}
		return l.Ledger.Settle(ctx, id, used)
	})
}

func (l ledger) Balance(ctx context.Context, u imagegen.UserID) (imagegen.Balance, error) {
	return step(l.steps, "Balance", func() (imagegen.Balance, error) { return l.Ledger.Balance(ctx, u) })
}
