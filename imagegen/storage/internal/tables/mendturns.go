package tables

import (
	"bytes"
	"context"
	"errors"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// errTurns: the turns do not follow from what is due.
var errTurns = errors.New("tables: the turns of the queue are not those of the work that is due")

// mendTurns makes ring and turns anew if they are damaged: each claim, and each record that is queued,
// reads them, and they follow from what is due, but for their order.
func (t *Tables) mendTurns(ctx context.Context) error {
	sound := func(tx kv.Tx) error { return kv.Spare(func() error { return checkTurns(tx) }) }
	var why error
	err := t.db.View(ctx, func(tx kv.Tx) error {
		why = sound(tx)
		return nil
	})
	if err != nil || why == nil {
		return err
	}
	if err := t.db.Update(ctx, func(tx kv.Tx) error { renewTurns(tx); return nil }); err != nil {
		return err
	}
	if t.OnMended != nil {
		t.OnMended(why)
	}
	return nil
}

// checkTurns reads every turn, and every user who should have one.
func checkTurns(tx kv.Tx) (err error) {
	n := 0
	for _, user := range usersDue(tx) {
		turn := tx.Get(turns, user)
		if turn == nil || !bytes.Equal(tx.Get(ring, turn), user) {
			return errTurns
		}
		n++
	}
	for _, b := range []kv.Bucket{ring, turns} {
		count := 0
		tx.Ascend(b, nil, func(_, _ []byte) bool { count++; return true })
		if count != n {
			return errTurns
		}
	}
	return nil
}

// renewTurns gives each user with work that is due a turn, in the order of their names.
func renewTurns(tx kv.Tx) {
	for _, b := range []kv.Bucket{ring, turns} {
		var keys [][]byte
		tx.Keys(b, nil, func(key []byte) bool { keys = append(keys, bytes.Clone(key)); return true })
		for _, key := range keys {
			tx.Delete(b, key)
		}
	}
	for i, user := range usersDue(tx) {
		turn := kv.Key(uint64(i + 1))
		tx.Put(ring, turn, user)
		tx.Put(turns, user, turn)
	}
}

// usersDue are the users with work that is due, by their keys, of which no value is read.
func usersDue(tx kv.Tx) (users [][]byte) {
	for from, more := []byte(nil), true; more; {
		more = false
		tx.Keys(due, from, func(key []byte) bool {
			name, _, _ := bytes.Cut(key, []byte{0})
			users, more = append(users, append(bytes.Clone(name), 0)), true
			from = append(bytes.Clone(name), 1) // behind all that is theirs
			return false
		})
	}
	return users
}
