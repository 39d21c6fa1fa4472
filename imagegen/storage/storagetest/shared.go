package storagetest

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// SharedStore runs the suite Store over two handles to one storage, as two processes that
// share it have them: calls alternate between the handles. So code that is right only
// because one process remembers something fails. open returns handles to a new, empty
// storage; where only one process can use a storage at a time, both are the same.
func SharedStore(t *testing.T, open func(t *testing.T) (one, other imagegen.Store)) {
	Store(t, func(t *testing.T) imagegen.Store {
		one, other := open(t)
		s := sharedStore{one, between(one, other)}
		a, audits := one.(auditor)
		i, keeps := one.(imagegen.ImageStore)
		if audits && keeps {
			return struct {
				sharedStore
				auditor
				imagegen.ImageStore
			}{s, a, i}
		}
		return s
	})
}

// SharedCreditAdmin runs the suite CreditAdmin over two handles, see SharedStore. now is
// the clock of both.
func SharedCreditAdmin(t *testing.T, open func(t *testing.T, now func() time.Time) (one, other imagegen.CreditAdmin)) {
	CreditAdmin(t, func(t *testing.T, now func() time.Time) imagegen.CreditAdmin {
		one, other := open(t, now)
		return sharedBooks{one, between(one, other)}
	})
}

// SharedImages runs the suite Images over two handles, see SharedStore.
func SharedImages(t *testing.T, open func(t *testing.T) (one, other imagegen.ImageStore)) {
	Images(t, func(t *testing.T) imagegen.ImageStore { return sharedImages{between(open(t))} })
}

// SharedSpool runs the suite Spool over two handles, see SharedStore.
func SharedSpool(t *testing.T, open func(t *testing.T) (one, other imagegen.Spool)) {
	Spool(t, func(t *testing.T) imagegen.Spool { return sharedSpool{between(open(t))} })
}

// handles takes turns between two.
type handles[T any] struct {
	both  [2]T
	calls atomic.Uint64
}

func between[T any](one, other T) *handles[T] { return &handles[T]{both: [2]T{one, other}} }

func (h *handles[T]) next() T { return h.both[h.calls.Add(1)%2] }

// Embedded is what an interface has that no test asks in turns. Optional parts are not forwarded, since the suites ask
// for none but the audit and the images, which SharedStore adds.
type sharedStore struct {
	imagegen.Store
	*handles[imagegen.Store]
}

func (s sharedStore) Create(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	return s.next().Create(ctx, r, lease)
}

func (s sharedStore) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	return s.next().Update(ctx, f, c)
}

func (s sharedStore) Generation(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	return s.next().Generation(ctx, id)
}

func (s sharedStore) Generations(ctx context.Context, u imagegen.UserID,
	q imagegen.Query) ([]imagegen.Record, bool, error) {
	return s.next().Generations(ctx, u, q)
}

func (s sharedStore) GenerationByIdempotencyKey(ctx context.Context, u imagegen.UserID,
	key string) (imagegen.Record, error) {
	return s.next().GenerationByIdempotencyKey(ctx, u, key)
}

func (s sharedStore) Ended(ctx context.Context, age time.Duration, n int) ([]imagegen.Record, error) {
	return s.next().Ended(ctx, age, n)
}

func (s sharedStore) Forgettable(ctx context.Context, state imagegen.State, age time.Duration,
	n int) ([]imagegen.Fence, error) {
	return s.next().Forgettable(ctx, state, age, n)
}

func (s sharedStore) Claim(ctx context.Context, d imagegen.ClaimRequest) ([]imagegen.Record, time.Duration, error) {
	return s.next().Claim(ctx, d)
}

func (s sharedStore) ClaimAged(ctx context.Context, age time.Duration, n int,
	lease time.Duration) ([]imagegen.Record, error) {
	return s.next().ClaimAged(ctx, age, n, lease)
}

func (s sharedStore) Recover(ctx context.Context, n int, lease time.Duration) ([]imagegen.Record, error) {
	return s.next().Recover(ctx, n, lease)
}

func (s sharedStore) Extend(ctx context.Context, lease time.Duration,
	fences ...imagegen.Fence) ([]imagegen.Fence, error) {
	return s.next().Extend(ctx, lease, fences...)
}

func (s sharedStore) Queued(ctx context.Context, u imagegen.UserID) (imagegen.QueueLength, error) {
	return s.next().Queued(ctx, u)
}

func (s sharedStore) Wake() <-chan struct{} { return s.next().Wake() }

func (s sharedStore) CreateUser(ctx context.Context, u imagegen.User) error {
	return s.next().CreateUser(ctx, u)
}

func (s sharedStore) User(ctx context.Context, id imagegen.UserID) (imagegen.User, error) {
	return s.next().User(ctx, id)
}

func (s sharedStore) UserByName(ctx context.Context, name string) (imagegen.User, error) {
	return s.next().UserByName(ctx, name)
}

func (s sharedStore) Users(ctx context.Context) ([]imagegen.User, error) { return s.next().Users(ctx) }

func (s sharedStore) SetAccountType(ctx context.Context, id imagegen.UserID, accountType string) error {
	return s.next().SetAccountType(ctx, id, accountType)
}

func (s sharedStore) DisableUser(ctx context.Context, id imagegen.UserID, at time.Time) error {
	return s.next().DisableUser(ctx, id, at)
}

func (s sharedStore) SuspendUser(ctx context.Context, id imagegen.UserID, at time.Time) error {
	return s.next().SuspendUser(ctx, id, at)
}

func (s sharedStore) CreateMember(ctx context.Context, u imagegen.User, most int) error {
	return s.next().CreateMember(ctx, u, most)
}

func (s sharedStore) SetSponsor(ctx context.Context, id, sponsor imagegen.UserID, l imagegen.KeyLimits) error {
	return s.next().SetSponsor(ctx, id, sponsor, l)
}

func (s sharedStore) ResumeUser(ctx context.Context, id imagegen.UserID) error {
	return s.next().ResumeUser(ctx, id)
}

func (s sharedStore) CreateKey(ctx context.Context, k imagegen.Key) error {
	return s.next().CreateKey(ctx, k)
}

func (s sharedStore) KeyByHash(ctx context.Context, hash [32]byte) (imagegen.Key, error) {
	return s.next().KeyByHash(ctx, hash)
}

func (s sharedStore) Keys(ctx context.Context, u imagegen.UserID) ([]imagegen.Key, error) {
	return s.next().Keys(ctx, u)
}

func (s sharedStore) RevokeKey(ctx context.Context, id imagegen.KeyID, at time.Time) (imagegen.Key, error) {
	return s.next().RevokeKey(ctx, id, at)
}

func (s sharedStore) SetKeyLimits(ctx context.Context, id imagegen.KeyID, l imagegen.KeyLimits) (imagegen.Key, error) {
	return s.next().SetKeyLimits(ctx, id, l)
}

func (s sharedStore) TouchKeys(ctx context.Context, used map[imagegen.KeyID]time.Time) error {
	return s.next().TouchKeys(ctx, used)
}

type sharedBooks struct {
	imagegen.CreditAdmin
	*handles[imagegen.CreditAdmin]
}

func (s sharedBooks) Charge(ctx context.Context, c imagegen.Charge) error {
	return s.next().Charge(ctx, c)
}

func (s sharedBooks) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	return s.next().Settle(ctx, id, used)
}

func (s sharedBooks) Balance(ctx context.Context, u imagegen.UserID) (imagegen.Balance, error) {
	return s.next().Balance(ctx, u)
}

func (s sharedBooks) Grant(ctx context.Context, g imagegen.Grant) (imagegen.Granted, error) {
	return s.next().Grant(ctx, g)
}

func (s sharedBooks) Revoke(ctx context.Context, r imagegen.Revocation) (imagegen.Revoked, error) {
	return s.next().Revoke(ctx, r)
}

func (s sharedBooks) Lots(ctx context.Context, u imagegen.UserID) ([]imagegen.Lot, error) {
	return s.next().Lots(ctx, u)
}

func (s sharedBooks) Holdings(ctx context.Context, u imagegen.UserID, n int) (imagegen.Holdings, error) {
	return s.next().Holdings(ctx, u, n)
}

func (s sharedBooks) History(ctx context.Context, u imagegen.UserID, before uint64,
	limit int) ([]imagegen.Entry, error) {
	return s.next().History(ctx, u, before, limit)
}

func (s sharedBooks) EachUsage(ctx context.Context, from, to time.Time, f func(imagegen.UserID, imagegen.Usage)) error {
	return s.next().EachUsage(ctx, from, to, f)
}

func (s sharedBooks) Usage(ctx context.Context, u imagegen.UserID, q imagegen.UsageQuery) ([]imagegen.Usage, error) {
	return s.next().Usage(ctx, u, q)
}

func (s sharedBooks) Today(ctx context.Context, u imagegen.UserID) (time.Time, error) {
	return s.next().Today(ctx, u)
}

func (s sharedBooks) MemberUse(ctx context.Context, payer, member imagegen.UserID) (imagegen.KeyUse, error) {
	return s.next().MemberUse(ctx, payer, member)
}

func (s sharedBooks) KeyUse(ctx context.Context, u imagegen.UserID, k imagegen.KeyID) (imagegen.KeyUse, error) {
	return s.next().KeyUse(ctx, u, k)
}

type sharedImages struct{ *handles[imagegen.ImageStore] }

func (s sharedImages) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	return s.next().PutImage(ctx, k, r)
}

func (s sharedImages) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	return s.next().OpenImage(ctx, k)
}

func (s sharedImages) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	return s.next().RemoveImages(ctx, g, attempt, keep...)
}

type sharedSpool struct{ *handles[imagegen.Spool] }

func (s sharedSpool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	return s.next().Stage(ctx, id, r)
}

func (s sharedSpool) Keep(ctx context.Context, ids ...imagegen.ReferenceID) error {
	return s.next().Keep(ctx, ids...)
}

func (s sharedSpool) Open(ctx context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	return s.next().Open(ctx, id)
}

func (s sharedSpool) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	return s.next().Remove(ctx, ids...)
}
