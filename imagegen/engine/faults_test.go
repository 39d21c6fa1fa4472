package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// faults fail calls of a Store, an ImageStore and a Ledger that are kept apart: before they are
// made, or after they took effect. n counts the calls of one kind from 1; an Update's kind is its
// change. A call that is about no one attempt has no fence.
type faults struct {
	mu            sync.Mutex
	before, after fault
	calls         map[string]int
	put           []imagegen.ImageKey // the images that were to be stored
}

// fault is the error of one call; nil if it does not fail.
type fault func(call string, n int, f imagegen.Fence) error

func (x *faults) failBefore(f fault) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.before = f
}

func (x *faults) failAfter(f fault) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.after = f
}

// count is how many calls of a kind were made.
func (x *faults) count(call string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.calls[call]
}

var errDoubt = errors.New("the connection was lost") // nothing that is definite

func (x *faults) around(call string, f imagegen.Fence, do func() error) error {
	x.mu.Lock()
	if x.calls == nil {
		x.calls = make(map[string]int)
	}
	x.calls[call]++
	n, before, after := x.calls[call], x.before, x.after
	x.mu.Unlock()
	if before != nil {
		if err := before(call, n, f); err != nil {
			return err
		}
	}
	err := do()
	if err == nil && after != nil {
		err = after(call, n, f)
	}
	return err
}

// use puts the faults between an engine and its parts.
func (x *faults) use(cfg *engine.Config) {
	cfg.Images, cfg.Spool = faultyImages{cfg.Store.(imagegen.ImageStore), x}, faultySpool{cfg.Store.(imagegen.Spool), x}
	cfg.Store, cfg.Ledger = faultyStore{cfg.Store, x}, faultyLedger{cfg.Ledger, x}
}

// first fails the first n calls of one kind.
func first(n int, call string, err error) fault {
	return func(c string, nth int, _ imagegen.Fence) error {
		if c == call && nth <= n {
			return err
		}
		return nil
	}
}

type faultyStore struct {
	imagegen.Store
	x *faults
}

func (s faultyStore) Create(ctx context.Context, r imagegen.Record,
	lease time.Duration) (got imagegen.Record, err error) {
	err = s.x.around("Create", r.Fence(), func() (err error) {
		got, err = s.Store.Create(ctx, r, lease)
		return err
	})
	return got, err
}

func (s faultyStore) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (got imagegen.Record, err error) {
	err = s.x.around(strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", c), "imagegen."), "Change"), f,
		func() (err error) {
			got, err = s.Store.Update(ctx, f, c)
			return err
		})
	return got, err
}

func (s faultyStore) Recover(ctx context.Context, n int, lease time.Duration) (rs []imagegen.Record, err error) {
	err = s.x.around("Recover", imagegen.Fence{}, func() (err error) {
		rs, err = s.Store.Recover(ctx, n, lease)
		return err
	})
	return rs, err
}

func (s faultyStore) Extend(ctx context.Context, lease time.Duration, fences ...imagegen.Fence) (lost []imagegen.Fence,
	err error) {
	err = s.x.around("Extend", fences[0], func() (err error) {
		lost, err = s.Store.Extend(ctx, lease, fences...)
		return err
	})
	return lost, err
}

func (s faultyStore) User(ctx context.Context, id imagegen.UserID) (u imagegen.User, err error) {
	err = s.x.around("User", imagegen.Fence{}, func() (err error) {
		u, err = s.Store.User(ctx, id)
		return err
	})
	return u, err
}

type faultyImages struct {
	imagegen.ImageStore
	x *faults
}

func (s faultyImages) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	s.x.mu.Lock()
	s.x.put = append(s.x.put, k)
	s.x.mu.Unlock()
	return s.x.around("PutImage", imagegen.Fence{ID: k.Generation, Attempt: k.Attempt}, func() error {
		return s.ImageStore.PutImage(ctx, k, r)
	})
}

func (s faultyImages) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	return s.x.around("RemoveImages", imagegen.Fence{ID: g, Attempt: attempt}, func() error {
		return s.ImageStore.RemoveImages(ctx, g, attempt, keep...)
	})
}

type faultySpool struct {
	imagegen.Spool
	x *faults
}

func (s faultySpool) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	return s.x.around("Remove", imagegen.Fence{}, func() error { return s.Spool.Remove(ctx, ids...) })
}

type faultyLedger struct {
	imagegen.Ledger
	x *faults
}

func (l faultyLedger) Charge(ctx context.Context, c imagegen.Charge) error {
	return l.x.around("Charge", imagegen.Fence{ID: imagegen.GenerationID(c.ID)}, func() error {
		return l.Ledger.Charge(ctx, c)
	})
}

func (l faultyLedger) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	return l.x.around("Settle", imagegen.Fence{ID: imagegen.GenerationID(id)}, func() error {
		return l.Ledger.Settle(ctx, id, used)
	})
}

func (l faultyLedger) Balance(ctx context.Context, u imagegen.UserID) (b imagegen.Balance, err error) {
	err = l.x.around("Balance", imagegen.Fence{}, func() (err error) {
		b, err = l.Ledger.Balance(ctx, u)
		return err
	})
	return b, err
}
