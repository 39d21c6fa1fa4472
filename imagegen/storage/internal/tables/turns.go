package tables

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Users with work that is due have a turn, and stand with it in a ring for each model that they have such
// work of. They are served from the front. Whoever was served goes to the end of all their rings, or leaves
// those where nothing of theirs is due any more. So each waits for one record of every other, at most,
// however long another's backlog is, and nobody for a model that they have not asked for.

// delay gives a queued row the time at which it becomes due; zero: now.
func delay(r row, now time.Time) row {
	r.due = time.Time{}
	if r.Delay > 0 {
		r.due = now.Add(r.Delay)
	}
	return r
}

// takeTurn follows a row that was replaced: its user comes to the end of the model's ring, or to the place
// there that their turn has, was served, or stays as they are.
func (t *Tables) takeTurn(tx kv.Tx, from, to row) {
	switch {
	case to.waits() && !from.waits():
		t.mendTurns(tx, func() error { return awaitTurn(tx, userKey(to.User), []byte(to.Model)) })
	case from.waits() && !to.waits():
		t.endTurn(tx, from.User, from.Model)
	}
}

// awaitTurn has a user come to the ring of a model, unless they are in it.
func awaitTurn(tx kv.Tx, user, model []byte) error {
	turn := tx.Get(turns, user)
	if turn == nil {
		turn = newTurn(tx)
		tx.Put(turns, user, turn)
	}
	if first := len(dueOf(tx, user, model, 2)) == 1; first {
		tx.Put(ring, ringKey(model, turn), user)
	}
	return checkTurn(tx, user, turn, modelsDue(tx, user))
}

// endTurn has a user go to the end of their rings, and leave that of the model if nothing of it is due.
func (t *Tables) endTurn(tx kv.Tx, u imagegen.UserID, model string) {
	t.mendTurns(tx, func() error {
		user, served := userKey(u), []byte(model)
		former, models := bytes.Clone(tx.Get(turns, user)), modelsDue(tx, user)
		if err := checkTurn(tx, user, former, append(models, served)); err != nil {
			return err
		}
		tx.Delete(ring, ringKey(served, former))
		tx.Delete(turns, user)
		if len(models) == 0 {
			return nil
		}
		turn := newTurn(tx)
		tx.Put(turns, user, turn)
		for _, m := range models {
			tx.Delete(ring, ringKey(m, former))
			tx.Put(ring, ringKey(m, turn), user)
		}
		return nil
	})
}

// newTurn is behind all others.
func newTurn(tx kv.Tx) []byte {
	last := uint64(0)
	for _, model := range modelsWaiting(tx) {
		tx.Descend(ring, append(bytes.Clone(model), 1), func(key, _ []byte) bool {
			last = max(last, turnOf(key))
			return false
		})
	}
	return kv.Key(last + 1)
}

func userKey(u imagegen.UserID) []byte { return kv.Key(string(u)) }

func ringKey(model, turn []byte) []byte { return kv.Key(string(model), turn) }

const turnLength = 8 // of what ends a key of ring

func turnOf(key []byte) uint64 {
	if len(key) < turnLength {
		return 0
	}
	return binary.BigEndian.Uint64(key[len(key)-turnLength:])
}

// modelsWaiting are those that have a ring.
func modelsWaiting(tx kv.Tx) [][]byte { return distinct(tx, ring, nil) }

// modelsDue are those that work of a user that is due is of.
func modelsDue(tx kv.Tx, user []byte) [][]byte { return distinct(tx, due, user) }

// distinct are the strings that follow a prefix in the keys of a bucket, each once. The others are not
// looked at.
func distinct(tx kv.Tx, b kv.Bucket, prefix []byte) (all [][]byte) {
	for from, more := prefix, true; more; {
		more = false
		tx.Keys(b, from, func(key []byte) bool {
			if bytes.HasPrefix(key, prefix) {
				s, _, _ := bytes.Cut(key[len(prefix):], []byte{0})
				all, more = append(all, bytes.Clone(s)), true
				from = slices.Concat(prefix, s, []byte{1}) // behind all that follows it
			}
			return false
		})
	}
	return all
}
