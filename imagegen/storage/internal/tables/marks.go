package tables

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
)

// secretIn is the bucket with the secret that programs on one database share; it has one value.
const secretIn kv.Bucket = "secret"

const secretKey = "console"

// Secret implements [account.LoginStore].
func (t *Tables) Secret(ctx context.Context) (secret [32]byte, err error) {
	var made [32]byte
	rand.Read(made[:]) // never fails
	err = t.db.Update(ctx, func(tx kv.Tx) error {
		secret = made
		if stored := tx.Get(secretIn, []byte(secretKey)); stored != nil {
			copy(secret[:], stored)
			return nil
		}
		tx.Put(secretIn, []byte(secretKey), made[:])
		return nil
	})
	return secret, err
}

// mark is a key that is kept until a time.
type mark struct {
	Key   [32]byte
	Until time.Time
}

// A mark is found by its key or, to be forgotten, by its time.
var (
	marks      = table.New("marks", func(m *mark) []byte { return m.Key[:] }, codeMark)
	markedTill = marks.Index("times", func(m *mark) []byte { return kv.Key(kv.TimeKey(m.Until)) })
)

// Mark implements [account.LoginStore].
func (t *Tables) Mark(ctx context.Context, now time.Time, keys [][32]byte, change func([]time.Time) bool) error {
	changes, err := view(ctx, t.db, func(tx kv.Tx) (bool, error) {
		_, until, err := marked(tx, now, keys)
		return err == nil && change(until), err
	})
	if err != nil || !changes {
		return err
	}
	return t.db.Update(ctx, func(tx kv.Tx) error {
		former, until, err := marked(tx, now, keys)
		if err != nil || !change(until) {
			return err
		}
		for i, key := range keys {
			switch to := (mark{key, until[i]}); {
			case until[i].After(now):
				marks.Put(tx, former[i], &to)
			case former[i] != nil:
				marks.Remove(tx, former[i])
			}
		}
		forgetMarks(tx, now)
		return nil
	})
}

// marked reads the marks under some keys, nil for one that is not there, and the times that count at now.
func marked(tx kv.Tx, now time.Time, keys [][32]byte) (former []*mark, until []time.Time, err error) {
	former, until = make([]*mark, len(keys)), make([]time.Time, len(keys))
	for i, key := range keys {
		m, err := marks.Get(tx, key[:])
		if err == imagegen.ErrNotFound {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if former[i] = &m; m.Until.After(now) {
			until[i] = m.Until
		}
	}
	return former, until, nil
}

// mostForgotten is how many marks a write removes whose time has passed. It adds fewer, so they do not pile up.
const mostForgotten = 20

// forgetMarks removes marks whose time has passed, the oldest first.
func forgetMarks(tx kv.Tx, now time.Time) {
	var over []mark
	for e := range markedTill.Entries(tx, nil) {
		m, err := marks.Get(tx, e.Key)
		if err != nil || m.Until.After(now) || len(over) == mostForgotten {
			break
		}
		over = append(over, m)
	}
	for _, m := range over {
		marks.Remove(tx, &m)
	}
}
