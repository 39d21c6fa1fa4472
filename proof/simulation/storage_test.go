package simulation_test

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// farStore is a store at the other end of a link. Users are kept near: their part is small. Of the optional parts it
// has those that decide about credits and time, TxStore and Timekeeper.
type farStore struct {
	imagegen.Store
	l *link
}

// The time of a store is measured from near.
var _ imagegen.Timekeeper = farStore{}

func (s farStore) Now() time.Time { return s.l.w.db.Now() }

func (s farStore) Age(at time.Time) time.Duration { return s.l.w.db.Age(at) }

func (s farStore) ClockInDoubt() (time.Duration, bool) { return s.l.w.db.ClockInDoubt() }

func (s farStore) ConfirmClock(ctx context.Context) error { return s.l.w.db.ConfirmClock(ctx) }

func (s farStore) Create(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	return s.creating(ctx, r, func(ctx context.Context) (imagegen.Record, error) {
		return s.Store.Create(ctx, r, lease)
	})
}

// creating is a call after which the engine may not know whether the references are needed: those
// it leaves behind then stay until the next start.
func (s farStore) creating(ctx context.Context, r imagegen.Record,
	create func(context.Context) (imagegen.Record, error)) (imagegen.Record, error) {
	got, err := over(ctx, s.l, losable, create)
	if err != nil && !imagegen.Definite(err) {
		s.l.w.excuse.references(r.References)
	}
	return got, err
}

func (s farStore) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	return s.ending(ctx, f, func(ctx context.Context) (imagegen.Record, error) { return s.Store.Update(ctx, f, c) })
}

// ending is a call after which the engine may not know that the references are needed no more.
func (s farStore) ending(ctx context.Context, f imagegen.Fence, end func(context.Context) (imagegen.Record, error)) (
	imagegen.Record, error) {
	before, _ := s.Store.Generation(context.Background(), f.ID)
	got, err := over(ctx, s.l, losable, end)
	if err != nil && !imagegen.Definite(err) {
		s.l.w.excuse.references(before.References)
	}
	return got, err
}

func (s farStore) Generation(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	return over(ctx, s.l, reads, func(ctx context.Context) (imagegen.Record, error) {
		return s.Store.Generation(ctx, id)
	})
}

func (s farStore) Generations(ctx context.Context, u imagegen.UserID, q imagegen.Query) (records []imagegen.Record,
	more bool, err error) {
	_, err = over(ctx, s.l, reads, nothing(func(ctx context.Context) (err error) {
		records, more, err = s.Store.Generations(ctx, u, q)
		return err
	}))
	return records, more, err
}

func (s farStore) GenerationByIdempotencyKey(ctx context.Context, u imagegen.UserID,
	key string) (imagegen.Record, error) {
	return over(ctx, s.l, reads, func(ctx context.Context) (imagegen.Record, error) {
		return s.Store.GenerationByIdempotencyKey(ctx, u, key)
	})
}

// claimed is what Claim returns.
type claimed struct {
	records []imagegen.Record
	next    time.Duration
}

func (s farStore) Claim(ctx context.Context, d imagegen.ClaimRequest) ([]imagegen.Record, time.Duration, error) {
	got, err := over(ctx, s.l, losable, func(ctx context.Context) (claimed, error) {
		records, next, err := s.Store.Claim(ctx, d)
		return claimed{records, next}, err
	})
	return got.records, got.next, err
}

func (s farStore) ClaimAged(ctx context.Context, age time.Duration, n int,
	lease time.Duration) ([]imagegen.Record, error) {
	return over(ctx, s.l, losable, func(ctx context.Context) ([]imagegen.Record, error) {
		return s.Store.ClaimAged(ctx, age, n, lease)
	})
}

func (s farStore) Recover(ctx context.Context, n int, lease time.Duration) ([]imagegen.Record, error) {
	return over(ctx, s.l, losable, func(ctx context.Context) ([]imagegen.Record, error) {
		return s.Store.Recover(ctx, n, lease)
	})
}

func (s farStore) Extend(ctx context.Context, lease time.Duration, fences ...imagegen.Fence) ([]imagegen.Fence, error) {
	return over(ctx, s.l, losable, func(ctx context.Context) ([]imagegen.Fence, error) {
		return s.Store.Extend(ctx, lease, fences...)
	})
}

func (s farStore) Queued(ctx context.Context, u imagegen.UserID) (imagegen.QueueLength, error) {
	return over(ctx, s.l, reads, func(ctx context.Context) (imagegen.QueueLength, error) {
		return s.Store.Queued(ctx, u)
	})
}

// jointStore is one that commits with its ledger.
type jointStore struct {
	farStore
	joint  imagegen.TxStore
	ledger imagegen.Ledger
}

var _ imagegen.TxStore = jointStore{}

func (s jointStore) Joins(l imagegen.Ledger) bool { return l == s.ledger }

func (s jointStore) CreateCharged(ctx context.Context, r imagegen.Record,
	lease time.Duration) (imagegen.Record, error) {
	return s.creating(ctx, r, func(ctx context.Context) (imagegen.Record, error) {
		return s.joint.CreateCharged(ctx, r, lease)
	})
}

func (s jointStore) FinishSettled(ctx context.Context, f imagegen.Fence,
	o imagegen.OutcomeChange) (imagegen.Record, error) {
	return s.ending(ctx, f, func(ctx context.Context) (imagegen.Record, error) {
		return s.joint.FinishSettled(ctx, f, o)
	})
}

// farLedger is a ledger at the other end of a link.
type farLedger struct {
	imagegen.Ledger
	l *link
}

func (b farLedger) Charge(ctx context.Context, c imagegen.Charge) error {
	_, err := over(ctx, b.l, losable, nothing(func(ctx context.Context) error { return b.Ledger.Charge(ctx, c) }))
	return err
}

func (b farLedger) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	_, err := over(ctx, b.l, losable, nothing(func(ctx context.Context) error {
		return b.Ledger.Settle(ctx, id, used)
	}))
	return err
}

func (b farLedger) Balance(ctx context.Context, u imagegen.UserID) (imagegen.Balance, error) {
	return over(ctx, b.l, reads, func(ctx context.Context) (imagegen.Balance, error) {
		return b.Ledger.Balance(ctx, u)
	})
}

// farShelf is a shelf at the other end of a link. At times there is no space.
type farShelf struct {
	*witness.Shelf
	l *link
}

var (
	_ imagegen.ImageStore = farShelf{}
	_ imagegen.Spool      = farShelf{}
)

// full uses up some of what is to be kept, as a disk does that fills up on the way.
func (s farShelf) full(r io.Reader) error {
	if !s.l.w.full.Load() {
		return nil
	}
	io.CopyN(io.Discard, r, 100)
	return fmt.Errorf("%w: no space is left", imagegen.ErrNotApplied)
}

func (s farShelf) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	if err := s.full(r); err != nil {
		return err
	}
	_, err := over(ctx, s.l, refusable, nothing(func(ctx context.Context) error { return s.Shelf.PutImage(ctx, k, r) }))
	if err == nil && s.l.fate() == answerLost {
		return errLost
	}
	return err
}

func (s farShelf) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	return over(ctx, s.l, reads, func(ctx context.Context) (io.ReadSeekCloser, error) {
		return s.Shelf.OpenImage(ctx, k)
	})
}

func (s farShelf) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	_, err := over(ctx, s.l, losable, nothing(func(ctx context.Context) error {
		return s.Shelf.RemoveImages(ctx, g, attempt, keep...)
	}))
	if err != nil {
		s.l.w.excuse.images(g, attempt)
	}
	return err
}

func (s farShelf) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	if err := s.full(r); err != nil {
		return err
	}
	context.AfterFunc(s.l.cut, func() {
		if context.Cause(s.l.cut) == errDied {
			s.l.w.excuse.spooled(id)
		}
	})
	_, err := over(ctx, s.l, refusable, nothing(func(ctx context.Context) error { return s.Shelf.Stage(ctx, id, r) }))
	return err
}

func (s farShelf) Open(ctx context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	return over(ctx, s.l, reads, func(ctx context.Context) (io.ReadCloser, error) { return s.Shelf.Open(ctx, id) })
}

func (s farShelf) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	_, err := over(ctx, s.l, losable, nothing(func(ctx context.Context) error { return s.Shelf.Remove(ctx, ids...) }))
	if err != nil {
		s.l.w.excuse.spooled(ids...)
	}
	return err
}
