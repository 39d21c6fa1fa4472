package tables

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Create implements [imagegen.GenerationStore]. imagegen.ErrInvalidRequest: the record names no
// user or no generation. An imagegen.Violation: it is not sound.
func (t *Tables) Create(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := checkNew(r); err != nil {
		return imagegen.Record{}, err
	}
	return t.write(ctx, func(tx kv.Tx, now time.Time) (row, error) {
		stands, err := load(tx, r.ID)
		if !errors.Is(err, imagegen.ErrNotFound) {
			return stands, err
		}
		if err := checkAsked(tx, r); err != nil {
			return row{}, err
		}
		return t.replace(tx, row{}, row{Record: r}, now, now.Add(lease))
	})
}

// Update implements [imagegen.GenerationStore].
func (t *Tables) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	actor, at := imagegen.ActorOf(ctx), t.books.Read().Wall
	return t.write(ctx, func(tx kv.Tx, now time.Time) (row, error) {
		from, to, changed, err := apply(tx, f, c)
		if err != nil || !changed {
			return from, err
		}
		if done, act := administrative(c, from, to); act {
			done.Time, done.Actor = at, actor
			if err := trail.Append(tx, done); err != nil {
				return from, err
			}
		}
		return t.replace(tx, from, to, now, time.Time{})
	})
}

// administrative is the row of the trail for a change that somebody makes to a generation.
func administrative(c imagegen.Change, from, to row) (imagegen.TrailRow, bool) {
	r := imagegen.TrailRow{Target: string(from.ID), User: from.User, Outcome: imagegen.TrailDone}
	switch c := c.(type) {
	case imagegen.Erase:
		r.Act, r.Before = imagegen.ActGenerationDelete, trail.Fields("status", from.Status(), "images", from.Published)
		return r, !c.Aged
	case imagegen.Resolve:
		r.Act, r.Before, r.After = imagegen.ActGenerationResolve, trail.Fields("disputed", from.Used()), trail.Fields("spent", to.Used())
		return r, true
	}
	return r, false
}

// Generation implements [imagegen.GenerationStore].
func (t *Tables) Generation(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	r, err := view(ctx, t.db, func(tx kv.Tx) (row, error) { return load(tx, id) })
	return r.Record, err
}

// Reserved implements [imagegen.GenerationStore].
func (t *Tables) Reserved(ctx context.Context, u imagegen.UserID, key string) (imagegen.Record, error) {
	r, err := view(ctx, t.db, func(tx kv.Tx) (row, error) { return loadReserved(tx, u, key) })
	return r.Record, err
}

// apply is the change to a row in this transaction. imagegen.ErrStale if there is none, or another
// attempt owns it.
func apply(tx kv.Tx, f imagegen.Fence, c imagegen.Change) (from, to row, changed bool, err error) {
	from, err = load(tx, f.ID)
	if errors.Is(err, imagegen.ErrNotFound) {
		return row{}, row{}, false, imagegen.ErrStale
	}
	if err != nil {
		return row{}, row{}, false, err
	}
	to = from
	to.Record, changed, err = from.Apply(f.Attempt, c)
	return from, to, changed, err
}

// replace writes a row in the place of another, in the queue if it belongs there. until is as in
// live.moved.
func (t *Tables) replace(tx kv.Tx, from, to row, now, until time.Time) (row, error) {
	if to.State == imagegen.StateQueued {
		to = delay(to, now)
	}
	found, err := replace(tx, from, to)
	if err != nil {
		return row{}, err
	}
	t.takeTurn(tx, from, to)
	tx.OnCommit(func() { t.live.moved(from, found, now, until) })
	return found, nil
}

func checkNew(r imagegen.Record) error {
	switch {
	case !r.User.Valid():
		return r.User.Check()
	case r.ID == "" || strings.Contains(string(r.ID), "\x00"):
		return imagegen.Invalid("a generation's identifier is not empty and holds no NUL; got %q", r.ID)
	case r.State != imagegen.StateCharging:
		return imagegen.Invalid("generation %s is created in state %q; it must be %q", r.ID, r.State, imagegen.StateCharging)
	}
	return r.Check()
}

// checkAsked returns why a new record cannot be had: its API key, its user, its idempotency key.
func checkAsked(tx kv.Tx, r imagegen.Record) error {
	u, err := loadUser(tx, r.User)
	if err != nil && !errors.Is(err, imagegen.ErrNotFound) { // an embedder's users are its own
		return err
	}
	var k imagegen.Key // of who asks without: it refuses a disabled user
	if r.KeyID != "" {
		k, err = loadKey(tx, tx.Get(keyIDs, kv.Key(string(r.KeyID))))
		if errors.Is(err, imagegen.ErrNotFound) || err == nil && k.User != r.User {
			return imagegen.ErrInvalidKey
		}
		if err != nil {
			return err
		}
	}
	if err := k.Refuses(u, r.CreatedAt); err != nil {
		return err
	}
	return checkReserved(tx, r)
}

// checkReserved returns an *imagegen.ReservedError if another record holds the key of r.
func checkReserved(tx kv.Tx, r imagegen.Record) error {
	if r.IdempotencyKey == "" {
		return nil
	}
	former, err := loadReserved(tx, r.User, r.IdempotencyKey)
	switch {
	case errors.Is(err, imagegen.ErrNotFound):
		return nil
	case err != nil:
		return err
	case former.Reserves(r.CreatedAt):
		return &imagegen.ReservedError{Record: former.Record}
	}
	return nil
}

func loadReserved(tx kv.Tx, u imagegen.UserID, key string) (row, error) {
	id := tx.Get(reserved, reservedKey(u, key))
	if id == nil {
		return row{}, imagegen.ErrNotFound
	}
	return indexed(tx, reserved, imagegen.GenerationID(id))
}
