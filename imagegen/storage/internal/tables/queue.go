package tables

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Claim implements [imagegen.Queue].
func (t *Tables) Claim(ctx context.Context, d imagegen.Demand) ([]imagegen.Record, time.Duration, error) {
	if d.Most <= 0 || t.live.length("").All == 0 {
		return nil, 0, kv.NotBegun(ctx)
	}
	now := t.now()
	var (
		records []imagegen.Record
		next    time.Duration
	)
	err := t.db.Update(ctx, func(tx kv.Tx) (err error) {
		if err := t.admit(tx, now); err != nil {
			return err
		}
		records, err = t.take(tx, t.pick(tx, d), now, now.Add(d.Lease))
		next = untilDue(tx, now)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return records, next, nil
}

// mostAdmitted bounds a commit: more that become due at once are admitted by the claims that follow.
const mostAdmitted = 256

// admit has delayed records that are due wait for nothing but their turn.
func (t *Tables) admit(tx kv.Tx, now time.Time) error {
	var ids []imagegen.GenerationID
	tx.Keys(delayed, nil, func(key []byte) bool {
		at, id := timeOf(key)
		if at > kv.TimeKey(now) || len(ids) == mostAdmitted {
			return false
		}
		ids = append(ids, id)
		return true
	})
	for _, id := range ids {
		r, err := spared(tx, delayed, id)
		if err != nil {
			t.putAside(tx, delayed, id, err)
			continue
		}
		admitted := r
		admitted.due = time.Time{}
		if _, err := replace(tx, r, admitted); err != nil {
			return err
		}
		t.takeTurn(tx, r, admitted)
	}
	return nil
}

// take claims records that are due.
func (t *Tables) take(tx kv.Tx, ids []imagegen.GenerationID, now, until time.Time) (records []imagegen.Record, err error) {
	for _, id := range ids {
		r, err := spared(tx, due, id)
		if err != nil {
			t.putAside(tx, due, id, err)
			continue
		}
		claimed := r
		if claimed.Record, _, err = r.Apply(r.Attempt, imagegen.Claim{}); err != nil {
			return nil, err
		}
		if claimed, err = t.replace(tx, r, claimed, now, until); err != nil {
			return nil, err
		}
		records = append(records, claimed.Record)
	}
	return records, nil
}

// untilDue is the time until the first delayed record is due; 0 if there is none.
func untilDue(tx kv.Tx, now time.Time) (d time.Duration) {
	tx.Keys(delayed, nil, func(key []byte) bool {
		at, _ := timeOf(key)
		d = time.Duration(max(int64(at-kv.TimeKey(now)), 1))
		return false
	})
	return d
}

// Recover implements [imagegen.Queue].
func (t *Tables) Recover(ctx context.Context, n int, lease time.Duration) ([]imagegen.Record, error) {
	now := t.now()
	abandoned := t.live.abandoned(n, now)
	if len(abandoned) == 0 {
		return nil, kv.NotBegun(ctx)
	}
	var records []imagegen.Record
	err := t.db.Update(ctx, func(tx kv.Tx) (err error) {
		records, err = t.recover(tx, abandoned, now, now.Add(lease))
		return err
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

func (t *Tables) recover(tx kv.Tx, abandoned []imagegen.Fence, now, until time.Time) (records []imagegen.Record, err error) {
	for _, f := range abandoned {
		if err := damage(tx, f.ID); err != nil {
			t.letGo(tx, f.ID, err)
			continue
		}
		from, to, changed, err := apply(tx, f, imagegen.Recover{})
		if errors.Is(err, imagegen.ErrStale) || errors.Is(err, imagegen.ErrTransition) || err == nil && !changed {
			continue // somebody has brought it further meanwhile
		}
		if err != nil {
			return nil, err
		}
		if to, err = t.replace(tx, from, to, now, until); err != nil {
			return nil, err
		}
		records = append(records, to.Record)
	}
	return records, nil
}

// Extend implements [imagegen.Queue].
func (t *Tables) Extend(ctx context.Context, lease time.Duration, fences ...imagegen.Fence) ([]imagegen.Fence, error) {
	if err := kv.NotBegun(ctx); err != nil {
		return nil, err
	}
	return t.live.extend(t.now().Add(lease), fences), nil
}

// Queued implements [imagegen.Queue].
func (t *Tables) Queued(_ context.Context, u imagegen.UserID) (imagegen.QueueLength, error) {
	return t.live.length(u), nil
}

// Wake implements [imagegen.Queue].
func (t *Tables) Wake() <-chan struct{} { return t.live.woken() }
