package tables

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Users with work that is due stand in a ring, each once, and are served from its front. Whoever was
// served goes to its end, or leaves it when nothing of theirs is due any more. So each waits for one
// record of every other, at most, however long another's backlog is.

// delay gives a queued row the time at which it becomes due; zero: now.
func delay(r row, now time.Time) row {
	r.due = time.Time{}
	if r.Delay > 0 {
		r.due = now.Add(r.Delay)
	}
	return r
}

// takeTurn follows a row that was replaced: its user comes to the end of the ring, was served, or
// stays as they are.
func (t *Tables) takeTurn(tx kv.Tx, from, to row) {
	switch {
	case to.waits() && !from.waits():
		t.mendTurns(tx, func() error { return awaitTurn(tx, userKey(to.User)) })
	case from.waits() && !to.waits():
		t.endTurn(tx, from.User)
	}
}

// awaitTurn has a user come to the end of the ring, unless they are in it.
func awaitTurn(tx kv.Tx, user []byte) error {
	if turn := tx.Get(turns, user); turn != nil {
		return checkTurn(tx, user, turn)
	}
	toTheEnd(tx, user)
	return nil
}

// endTurn has a user go to the end of the ring, or leave it.
func (t *Tables) endTurn(tx kv.Tx, u imagegen.UserID) {
	user := userKey(u)
	t.mendTurns(tx, func() error {
		turn := tx.Get(turns, user)
		if err := checkTurn(tx, user, turn); err != nil {
			return err
		}
		tx.Delete(ring, turn)
		tx.Delete(turns, user)
		if len(dueOf(tx, user, 1)) > 0 {
			toTheEnd(tx, user)
		}
		return nil
	})
}

func toTheEnd(tx kv.Tx, user []byte) {
	last := uint64(0)
	tx.Descend(ring, nil, func(turn, _ []byte) bool {
		last = binary.BigEndian.Uint64(turn)
		return false
	})
	turn := kv.Key(last + 1)
	tx.Put(ring, turn, user)
	tx.Put(turns, user, turn)
}

func userKey(u imagegen.UserID) []byte { return kv.Key(string(u)) }

// dueOf returns up to n records of a user that are due, the first first.
func dueOf(tx kv.Tx, user []byte, n int) (ids []imagegen.GenerationID) {
	tx.Keys(due, user, func(key []byte) bool {
		if !bytes.HasPrefix(key, user) || len(ids) == n {
			return false
		}
		ids = append(ids, afterUser(key))
		return true
	})
	return ids
}

// candidate is a user whose work may be claimed.
type candidate struct {
	user []byte
	held int
	due  []imagegen.GenerationID // nil: not looked up
}

// pick chooses the records to claim, in their order.
func (t *Tables) pick(tx kv.Tx, d imagegen.Demand) (ids []imagegen.GenerationID) {
	look := func() (err error) {
		ids, err = pick(tx, d)
		return err
	}
	if t.mendTurns(tx, look) {
		ids, _ = pick(tx, d)
	}
	return ids
}

// pick finds errTurns where somebody has a turn that is not theirs, or for nothing.
func pick(tx kv.Tx, d imagegen.Demand) (ids []imagegen.GenerationID, err error) {
	waiting, err := candidates(tx, d)
	for err == nil && len(ids) < d.Most && len(waiting) > 0 {
		i := fewest(waiting)
		c := waiting[i]
		waiting = slices.Delete(waiting, i, i+1)
		if c.due == nil {
			c.due = dueOf(tx, c.user, d.Most-len(ids))
		}
		if len(c.due) == 0 {
			return nil, errTurns
		}
		ids = append(ids, c.due[0])
		c.due, c.held = c.due[1:], c.held+1
		if len(c.due) > 0 && allows(d, c.held) {
			waiting = append(waiting, c)
		}
	}
	return ids, err
}

func allows(d imagegen.Demand, held int) bool { return d.Below == 0 || held < d.Below }

// candidates are the users from the front of the ring who may get something. Once there are enough who
// hold nothing, nobody behind them can. Whoever sees the whole ring sees as well whether somebody is missing.
func candidates(tx kv.Tx, d imagegen.Demand) (waiting []candidate, err error) {
	idle, seen, more := 0, 0, false
	tx.Ascend(ring, nil, func(turn, user []byte) bool {
		if !bytes.Equal(tx.Get(turns, user), turn) {
			err = errTurns
			return false
		}
		held := d.Held[imagegen.UserID(bytes.TrimSuffix(user, []byte{0}))]
		if allows(d, held) {
			waiting = append(waiting, candidate{user: user, held: held})
		}
		if held == 0 {
			idle++
		}
		seen++
		more = idle >= d.Most
		return !more
	})
	if !more && seen != len(usersDue(tx)) {
		err = errTurns
	}
	return waiting, err
}

// fewest finds the first of those who hold the fewest slots.
func fewest(waiting []candidate) (first int) {
	for i, c := range waiting {
		if c.held < waiting[first].held {
			first = i
		}
	}
	return first
}
