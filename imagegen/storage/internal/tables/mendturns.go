package tables

import (
	"bytes"
	"context"
	"errors"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// errTurns: the turns do not follow from what is due.
var errTurns = errors.New("tables: the turns of the queue are not those of the work that is due")

// mendTurns has f run, which reads ring and turns and changes nothing else, and makes them anew if f finds
// them damaged: each claim, and each record that is queued, reads them, and they follow from what is due,
// but for their order. It reports whether it did.
func (t *Tables) mendTurns(tx kv.Tx, f func() error) (mended bool) {
	why := kv.Spare(f)
	if why == nil {
		return false
	}
	renewTurns(tx)
	if t.OnMended != nil {
		tx.OnCommit(func() { t.OnMended(why) })
	}
	return true
}

// loadTurns looks at all of them, once: what is amiss between two users no claim would notice.
func (t *Tables) loadTurns(ctx context.Context) error {
	check := func(tx kv.Tx) func() error { return func() error { return checkTurns(tx) } }
	sound := false
	err := t.db.View(ctx, func(tx kv.Tx) error { sound = kv.Spare(check(tx)) == nil; return nil })
	if err != nil || sound {
		return err
	}
	return t.db.Update(ctx, func(tx kv.Tx) error { t.mendTurns(tx, check(tx)); return nil })
}

// checkTurns reads every turn, and every user who should have one.
func checkTurns(tx kv.Tx) error {
	users, places := 0, 0
	for _, user := range usersDue(tx) {
		models := modelsDue(tx, user)
		if err := checkTurn(tx, user, tx.Get(turns, user), models); err != nil {
			return err
		}
		users, places = users+1, places+len(models)
	}
	if size(tx, turns) != users || size(tx, ring) != places {
		return errTurns
	}
	return nil
}

// checkTurn checks that a turn is the user's in the rings of these models.
func checkTurn(tx kv.Tx, user, turn []byte, models [][]byte) error {
	for _, model := range models {
		if turn == nil || !bytes.Equal(tx.Get(ring, ringKey(model, turn)), user) {
			return errTurns
		}
	}
	return nil
}

// size reads all of a bucket.
func size(tx kv.Tx, b kv.Bucket) (n int) {
	tx.Ascend(b, nil, func(_, _ []byte) bool { n++; return true })
	return n
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
		tx.Put(turns, user, turn)
		for _, model := range modelsDue(tx, user) {
			tx.Put(ring, ringKey(model, turn), user)
		}
	}
}

// usersDue are the users with work that is due, by their keys, of which no value is read.
func usersDue(tx kv.Tx) (users [][]byte) {
	for _, name := range distinct(tx, due, nil) {
		users = append(users, append(name, 0))
	}
	return users
}
